"""What programs print when something goes wrong: a line of each sort, who prints it, and how much it says.

A line is looked at without its prefix and colours (`faults.cleaned`). Of an output's lines those with the most weight
tell the error. In a pattern, `said` is what is told, `keep` what is no accident in it, `code` the rule's name.
"""

from __future__ import annotations

import re
from typing import Literal

from msgspec import Struct

from ireneo.patterns import lazy_re

Sort = Literal["missing", "lint", "build", "raised", "tests", "told"]
"""Something is missing or misspelt; a linter's or a compiler's finding; an exception; a failed test; anything else."""


class LineSort(Struct, frozen=True, kw_only=True):
    """Lines of one sort."""

    sort: Sort
    by: frozenset[str]
    """Who prints them, by the first word of a program's name or by all of it; empty: any program, or one that a group
    `by` names."""
    pattern: re.Pattern[str]
    weight: int
    last: bool = False
    """Of several such lines the last one tells, as in a traceback."""
    each: bool = False
    """Several are told apart by their `code`."""
    own: bool = False
    """Other programs print lines like it: it counts only where one of these was called."""


def _sort(
    sort: Sort,
    weight: int,
    by: str,
    pattern: str,
    *,
    last: bool = False,
    each: bool = False,
    own: bool = False,
    flags: int = 0,
) -> LineSort:
    named = frozenset(by.split(",")) - {""}
    made = lazy_re(pattern, flags)
    return LineSort(sort=sort, by=named, pattern=made, weight=weight, last=last, each=each, own=own)


_C = "gcc,g++,cc,c++,clang,clang++,cmake,make,ninja,bear"
_JS = "node,npm,npx,pnpm,yarn,bun,tsx,ts-node,jest,vitest,vite,next,webpack,rollup,esbuild,eslint,tsc,mocha,playwright"
_PY = "python,pytest,unittest,pip,mypy,flask,celery,tox,nox,coverage,uvicorn,gunicorn,alembic,ipython,jupyter,django-admin"
_TS = "tsc,npm,npx,pnpm,yarn,ts-node,tsx,vite,next,vue-tsc,nx,turbo,jest,deno"

_BY_PROGRAM: tuple[LineSort, ...] = (
    # Shells: a program that is not there, a line that can't be read.
    _sort(
        "missing",
        96,
        "",
        r"^(?:\S*/)?(?:ba|z|da|k|a)?sh: (?:(?:line )?\d+: |-c: |eval: )*(?P<said>(?P<keep>(?P<by>[^\s:]+)): (?:command )?not found)",
    ),
    _sort("missing", 96, "", r"^(?:\(eval\):\d*:? ?|zsh:(?:\d+:)? )(?P<said>command not found: (?P<keep>(?P<by>\S+)))"),
    _sort("missing", 96, "", r"^\S+: line \d+: (?P<said>(?P<keep>(?P<by>[^\s:]+)): command not found)"),
    _sort(
        "missing",
        95,
        "",
        r"^(?:timeout|env|nohup|xargs|sudo|nice|time|watch): (?:failed to run command )?[‘'\"`]?(?P<said>(?P<keep>(?P<by>[\w./+-]+))[’'\"`]?: (?:No such file or directory|command not found|not found))",
    ),
    _sort(
        "missing",
        95,
        "make,gmake",
        r"^(?:g?make)(?:\[\d+\])?: (?P<said>(?P<keep>[\w./+-]+): (?:No such file or directory|Command not found|Permission denied))",
    ),
    _sort(
        "told",
        94,
        "",
        r"^(?:\S*/)?(?:ba|z|da|k|a)?sh: (?:(?:line )?\d+: |-c: |eval: )*(?P<said>(?:syntax error|unexpected EOF|bad substitution|parse error)[^\n]*)",
    ),
    _sort(
        "told",
        94,
        "",
        r"^(?:\(eval\):\d*:? ?|zsh:(?:\d+:)? )(?P<said>(?:no matches found|parse error near|bad substitution|unmatched|read-only variable|event not found)[^\n]*)",
    ),
    _sort(
        "told",
        84,
        "",
        r"^(?:-?(?:ba|z|da|k)?sh|\(eval\)):(?: line)?:? ?(?:\d+: ?)?(?P<said>(?P<by>cd|source|pushd|export|kill|popd|set|unset|read|ulimit|wait|fg|alias)\b(?::\d+)?: [^\n]+)",
    ),
    _sort("told", 84, "", r"^(?:\(eval\):)(?P<said>(?P<by>cd|source|pushd|kill):\d*+:? ?[^\n]+)"),
    _sort(
        "told",
        83,
        "",
        r"^(?:\S*/)?(?:ba|z|da|k|a)?sh: (?:(?:line )?\d+: )*(?P<said>(?P<by>[^\s:]{1,200}): (?:No such file or directory|Permission denied|Is a directory|cannot execute[^\n]*|bad interpreter[^\n]*|not found))",
    ),
    _sort(
        "told",
        83,
        "",
        r"^(?:\(eval\):\d*:? ?|zsh:(?:\d+:)? )(?P<said>(?:no such file or directory|permission denied): (?P<by>\S+))",
    ),
    # Modules, packages and scripts that are missing.
    _sort(
        "missing",
        92,
        _PY,
        r"^(?:E\s+)?(?:ModuleNotFoundError|ImportError): (?P<said>(?P<keep>No module named ['\"]?[\w.]+['\"]?))",
        last=True,
    ),
    _sort("missing", 92, "", r"^\S*(?P<by>python)[\d.]*: (?P<said>(?P<keep>No module named [\w.]+))"),
    _sort(
        "missing",
        91,
        _PY,
        r"^(?:E\s+)?ImportError: (?P<said>cannot import name (?P<keep>['\"]?\w+['\"]? from ['\"][\w.]+['\"])?[^\n]*)",
        last=True,
    ),
    _sort(
        "missing",
        92,
        _JS,
        r"^(?:Error: |Error \[ERR_MODULE_NOT_FOUND\]: |\S{0,3} ?)(?P<said>Cannot find (?:module|package) ['\"](?P<keep>[@\w][\w@/.-]*)['\"])",
    ),
    _sort("missing", 92, _JS, r"^(?:Error: )(?P<said>Cannot find module) ['\"][./]"),
    _sort("missing", 90, _JS, r"(?P<said>Failed to resolve (?:import|entry for package) \"(?P<keep>[@\w][\w@/.-]*)\")"),
    _sort("missing", 93, "npm", r"^npm (?:ERR!|error) (?P<said>Missing script: \"?(?P<keep>[\w:.-]+)\"?)"),
    _sort(
        "missing",
        93,
        "pnpm,npm",
        r"(?:ERR_PNPM_NO_SCRIPT\w{0,20}|ERR_PNPM_RECURSIVE_EXEC_FIRST_FAIL)\s+(?P<said>(?:Missing script: |Command \")(?P<keep>[\w:.-]++)[^\n]*)",
    ),
    _sort(
        "missing",
        93,
        "yarn",
        r"^(?:error |Usage Error: )(?P<said>(?:Command \"(?P<keep>[\w:./-]+)\" not found|Couldn't find a script named \"[\w:./-]+\")[^\n]*)",
    ),
    _sort("missing", 93, "bun", r"^error: (?P<said>Script not found \"(?P<keep>[\w:./-]+)\")"),
    _sort(
        "missing",
        93,
        "make,gmake",
        r"^g?make(?:\[\d+\])?: \*\*\* (?P<said>No rule to make target [`'\"](?P<keep>[\w./:+-]+)['\"])",
    ),
    _sort(
        "missing",
        93,
        "make,gmake",
        r"^g?make(?:\[\d+\])?: \*\*\* (?P<said>No targets specified and no makefile found|missing separator|[^\[\n]*commands commence before first target)",
    ),
    _sort("missing", 93, "mise", r"^mise (?:ERROR )?(?P<said>no tasks? (?P<keep>[\w:.-]+) found)"),
    _sort(
        "told", 62, "mise", r"^mise ERROR (?P<said>(?!Run with|Version|task failed|\[|sh exited|command|Process)[^\n]+)"
    ),
    _sort(
        "missing", 93, "just", r"^error: (?P<said>Justfile does not contain recipes? [`'\"](?P<keep>[\w:.-]+)[`'\"])"
    ),
    _sort("missing", 93, "just", r"^error: (?P<said>No justfile found)"),
    _sort("missing", 93, "task", r"^task: (?P<said>Task \"(?P<keep>[\w:.-]+)\" does not exist)"),
    _sort("missing", 93, "task", r"^task: (?P<said>No Taskfile found)[^\n]*"),
    _sort("missing", 93, "cargo", r"^error: (?P<said>no such (?:command|subcommand): `(?P<keep>[\w-]+)`)"),
    _sort("missing", 93, "cargo", r"^error: (?P<said>no (?:bin|example|test|bench) target named `(?P<keep>[\w-]+)`)"),
    _sort("missing", 93, "uv run,uv", r"^error: (?P<said>Failed to spawn: `(?P<keep>[\w./-]+)`)"),
    _sort("missing", 93, "poetry run,poetry", r"^(?P<said>Command not found: (?P<keep>[\w./-]+))"),
    _sort("missing", 93, "bundle exec,bundle", r"^bundler: (?P<said>command not found: (?P<keep>[\w./-]+))"),
    _sort(
        "missing",
        93,
        "docker,docker run,docker exec,docker compose exec,docker compose run,kubectl exec",
        r"(?P<said>exec: \"(?P<keep>[\w./-]+)\": (?:executable file not found in \$PATH|stat [^\n]{0,200}no such file or directory))",
    ),
    _sort(
        "missing", 91, "npx,npm", r"^npm (?:ERR!|error) (?P<said>could not determine executable to run|canceled[^\n]*)"
    ),
    _sort(
        "missing",
        90,
        "",
        r"^(?:\S*/)?(?P<by>[\w.+-]+): (?:error: )?(?P<said>(?:unrecognized|unknown|invalid|illegal|unsupported) (?:option|argument|flag|command)s?:?(?: --)? ?[‘'\"`]?(?P<keep>[\w:=-]++)?+[^\n]*)",
        flags=re.I,
    ),
    _sort(
        "missing",
        89,
        "",
        r"^(?:Error: |error: |ERROR: |Error )?(?P<said>(?:unknown (?:flag|option|command|shorthand flag|subcommand|argument)|unexpected argument|unrecognized (?:arguments?|subcommand|option|command)|No such (?:option|command)|Found argument|Unrecognized option|Invalid option|flag provided but not defined|no such flag):? ?[‘'\"`]?(?P<keep>[\w:-]++(?:=\w++)?+)?+[^\n]*)",
        flags=re.I,
    ),
    _sort(
        "missing",
        89,
        "",
        r"^(?:\S*/)?(?P<by>[\w.-]+): error: (?P<said>(?:the following arguments are required: (?P<keep>[\w, -]+)|argument [^\n]+|ambiguous option[^\n]*|unrecognized arguments:[^\n]*))",
    ),
    _sort(
        "missing",
        88,
        "",
        r"^(?:Error: )?(?P<said>(?:Missing (?:option|argument|parameter|command)|accepts (?:\d+|at most \d+|between \d+ and \d+) arg|required flag|requires (?:at least|exactly) \d+ arg)[^\n]*)",
        flags=re.I,
    ),
    # Go.
    _sort(
        "missing",
        90,
        "go",
        r"^(?:[\w./-]+\.go:\d+:\d+: )?(?P<said>no required module provides package (?P<keep>[\w./-]+)|package (?P<keep2>[\w./-]+) is not in (?:std|GOROOT)|cannot find package[^\n]*|missing go\.sum entry[^\n]*|no Go files in[^\n]*)",
    ),
    _sort("missing", 90, "go", r"^go: (?P<said>(?!downloading|finding|extracting|added|upgraded|creating)[^\n]+)"),
    _sort(
        "missing",
        89,
        "go",
        r"^(?P<said>pattern [^\n]*(?:no matching files found|directory prefix[^\n]*|cannot find module[^\n]*))",
    ),
    _sort("build", 79, "go test,go", r"^FAIL\s+\S+ \[(?P<said>setup failed)\]"),
    _sort("build", 88, "go", r"(?P<said>import cycle not allowed)"),
    # Linters: a place, a message, a rule.
    _sort(
        "lint",
        82,
        "golangci-lint",
        r"^\S+\.go:\d+(?::\d+)?: (?P<said>[^\n]+ \((?P<code>(?!typecheck)[a-z]\w+)\))$",
        each=True,
    ),
    _sort("build", 81, "golangci-lint", r"^\S+\.go:\d+(?::\d+)?: (?P<said>[^\n]+) \(typecheck\)$"),
    _sort("lint", 82, "eslint", r"^\d+:\d+\s+error\s+(?P<said>\S++(?: \S++)*+)\s{2,}+(?P<code>[@\w/-]++)$", each=True),
    _sort("lint", 70, "eslint", r"^\d+:\d+\s+error\s+(?P<said>(?:Parsing error: )?\S[^\n]*)$"),
    _sort("lint", 82, "stylelint", r"^\d+:\d+\s+[✖×]\s+(?P<said>\S++(?: \S++)*+)\s{2,}+(?P<code>[\w/-]++)$", each=True),
    _sort("lint", 82, "pylint", r"^\S+\.py:\d+:\d+: [CRWEF]\d{4}: (?P<said>[^\n]+) \((?P<code>[a-z-]+)\)$", each=True),
    _sort(
        "lint",
        82,
        "ruff,flake8,pycodestyle,pydocstyle",
        r"^\S+\.pyi?:\d+:\d+: (?P<code>[A-Z]{1,4}\d{2,4}):? (?:\[\*\] )?(?P<said>[^\n]+)$",
        each=True,
    ),
    _sort("lint", 82, "ruff", r"^(?P<code>[A-Z]{1,4}\d{3,4}) (?:\[\*\] )?(?P<said>[A-Z`][^\n]+)$", each=True),
    _sort(
        "lint", 82, "mypy", r"^\S+\.pyi?:\d+(?::\d+)?: error: (?P<said>[^\n]*\S) {1,4}\[(?P<code>[a-z-]+)\]$", each=True
    ),
    _sort(
        "lint",
        82,
        "pyright,basedpyright",
        r"^\S+\.pyi?:\d+:\d+ - error: (?P<said>[^\n]+) \((?P<code>report\w+)\)$",
        each=True,
    ),
    _sort(
        "lint",
        82,
        "rubocop",
        r"^\S+\.(?:rb|rake|gemspec):\d+:\d+: [CWEF]: (?:\[Correctable\] )?(?P<code>[\w/]+): (?P<said>[^\n]+)$",
        each=True,
    ),
    _sort("lint", 82, "shellcheck", r"^(?:\^-+\^?|\^\-\-) ?(?P<code>SC\d{4}) \(\w+\): (?P<said>[^\n]+)$", each=True),
    _sort("lint", 82, "shellcheck", r"^\S+:\d+:\d+: \w+: (?P<said>[^\n]+) \[(?P<code>SC\d{4})\]$", each=True),
    _sort("lint", 82, "yamllint,hadolint", r"^\d+:\d+\s++error\s++(?P<said>[^\n]+) \((?P<code>[\w-]+)\)$", each=True),
    _sort("lint", 82, "hadolint", r"^\S+:\d+ (?P<code>DL\d{4}|SC\d{4}) \w+: (?P<said>[^\n]+)$", each=True),
    _sort(
        "lint",
        82,
        "markdownlint",
        r"^\S+\.mdx?:\d+(?::\d+)? (?:error )?(?P<code>MD\d{3}/[\w-]+) (?P<said>[^\n]+)$",
        each=True,
    ),
    _sort(
        "lint",
        82,
        "cargo clippy,cargo",
        r"^(?:= )?note: `?#\[?(?:deny|forbid)\((?P<said>(?P<keep>(?P<code>clippy::\w+)))\)",
    ),
    _sort("lint", 82, "cargo clippy,cargo", r"^= (?:note|help): `-D (?P<said>(?P<keep>(?P<code>clippy::[\w-]+)))`"),
    _sort("lint", 76, "black", r"^(?P<said>would reformat) \S+|^(?P<said2>\d+ files? would be reformatted)"),
    _sort("lint", 76, "prettier", r"^(?P<said>Code style issues (?:found|were found|fixed)[^\n]*)"),
    _sort("lint", 76, "isort", r"^ERROR: \S+ (?P<said>Imports are incorrectly sorted[^\n]*)"),
    _sort("lint", 76, "ruff", r"^(?P<said>Would reformat): \S+"),
    _sort("lint", 77, "prettier", r"^\[error\] \S+: (?P<said>SyntaxError: [^\n]+)"),
    # Compilers.
    _sort(
        "build", 82, _TS, r"^\S+\.[cm]?[tj]sx?(?:\(\d+,\d+\):|:\d+:\d+ -) error (?P<code>TS\d{4,5}): (?P<said>[^\n]+)"
    ),
    _sort("build", 81, _TS, r"\berror (?P<code>TS\d{4,5}): (?P<said>[^\n]+)"),
    _sort("build", 82, "cargo,rustc", r"^error\[(?P<code>E\d{4})\]: (?P<said>[^\n]+)"),
    _sort("build", 82, "dotnet,msbuild,csc", r"\berror (?P<code>(?:CS|MSB|NU|NETSDK|FS)\d{4}): (?P<said>[^\n\[]+)"),
    _sort(
        "build",
        82,
        "javac,mvn,mvnw,gradle,gradlew,java",
        r"^\S+\.(?:java|scala|groovy):(?:\d+: error:|\[\d+,\d+\](?: error:)?) ?(?P<said>[^\n]+)",
    ),
    _sort("build", 82, "kotlinc,gradle,gradlew", r"^e: (?:file://)?\S+\.kts?:?\S* (?P<said>[^\n]+)"),
    _sort("build", 82, "swift,swiftc,xcodebuild", r"^\S+\.swift:\d+:\d+: error: (?P<said>[^\n]+)"),
    _sort("build", 82, _C, r"^\S+\.(?:c|cc|cpp|cxx|h|hpp|hh|m|mm|cu):\d+:(?:\d+:)? (?:fatal )?error: (?P<said>[^\n]+)"),
    _sort(
        "build", 80, _C, r"(?P<said>undefined reference to|cannot find -l\w+|symbol\(s\) not found for architecture)"
    ),
    _sort("build", 80, "go", r"^(?:vet: )?\S+\.go:\d+:\d+: (?!\S+@v[^\n]*git ls-remote)(?P<said>[^\n]+)$"),
    _sort("build", 80, "ghc,cabal,stack", r"^\S+\.hs:\d+:\d+: error:(?: \[(?P<code>GHC-\d+)\])? ?(?P<said>[^\n]*)"),
    _sort("build", 80, "mix,elixir", r"^\*\* \([\w.]+\) (?P<said>[^\n]+)"),
    _sort("build", 80, "", r"^\S+\.proto:\d+:\d+: ?(?P<said>[^\n]+)"),
    _sort("told", 50, "", r"\berr(?:or)?=(?:\"(?P<said>[^\"\n]+)\"|(?P<said2>[^\"\s][^\n]*))"),
    _sort("build", 79, "terraform,tofu", r"^Error: (?P<said>[A-Z][^\n]+)$", own=True),
    _sort("build", 78, "", r"^\S+?\.[A-Za-z]\w{0,4}:\d+(?::\d+)?: (?:fatal )?error: (?P<said>[^\n]+)$", each=False),
    _sort(
        "build",
        57,
        "cargo,rustc",
        r"^error: (?P<said>(?!could not compile|aborting|test failed|process|recipe|build failed|\d+ )[a-z][^\n]+)$",
        own=True,
    ),
    # Test runners.
    _sort(
        "raised", 70, "pytest,python", r"^ERROR \S+\.py - (?P<said>[A-Z]\w*(?:Error|Exception|Warning|Failed)\b[^\n]*)$"
    ),
    _sort("tests", 66, "pytest,python", r"^(?:FAILED|ERROR) \S+\.py(?:::\S+)?(?: - (?P<said>[^\n]+))?$"),
    _sort("tests", 66, "unittest,python,manage.py", r"^(?:FAIL|ERROR): \w+ \([\w.]+\)"),
    _sort("tests", 66, "go test,go,gotestsum", r"^--- FAIL: \S+"),
    _sort("tests", 64, "go test,go,gotestsum", r"^FAIL\t\S+\t[\d.]+s$|^FAIL\s+\S+\s+[\d.]+s$"),
    _sort(
        "tests",
        66,
        "jest,vitest,npm,pnpm,yarn,bun",
        r"^● (?!Console|Test suite failed|Cannot log)[^\n]+|^FAIL\s+\S+\.(?:test|spec)\.\w+|^[×✕] [^\n]+(?: > | › |\d ?ms\)?$)",
    ),
    _sort("tests", 65, "mocha,npm,yarn,pnpm,cypress", r"^\d+ failing$"),
    _sort("tests", 66, "cargo test,cargo,cargo nextest", r"^test \S+ \.\.\. FAILED$|^---- \S+ stdout ----$"),
    _sort(
        "tests",
        66,
        "rspec,rake,rails,rails test",
        r"^rspec \./\S+:\d+ #|^\d+ examples?, [1-9]\d* failures?|^\d+ runs, \d+ assertions, (?:[1-9]\d* failures|0 failures, [1-9]\d* errors)",
    ),
    _sort(
        "tests",
        66,
        "gradle,gradlew,mvn,mvnw",
        r"^\S[^\n]{0,200} > \S[^\n]{0,200} FAILED$|^Tests run: \d+, (?:Failures: [1-9]|Failures: 0, Errors: [1-9])|^There (?:were|are) (?:failing tests|test failures)|^> There were failing tests",
    ),
    _sort(
        "tests",
        66,
        "phpunit,artisan,php",
        r"^Tests: \d+, Assertions: \d+, (?:Failures|Errors): [1-9]|^There (?:was|were) \d+ (?:failure|error)s?:",
    ),
    _sort("tests", 66, "bats,prove,node --test,tap", r"^not ok \d+"),
    _sort("tests", 66, "playwright", r"^\d+\) \[[\w -]+\] › "),
    _sort("tests", 66, "dotnet", r"^Failed!\s+- Failed:\s+[1-9]"),
    _sort("tests", 66, "swift,xcodebuild", r"error: -\[\S+ \S+\] : |^Test Case '[^'\n]+' failed"),
    _sort("tests", 66, "ctest", r"\*\*\*Failed\b|^The following tests FAILED:"),
    _sort("tests", 66, "mix", r"^\d+ tests?, [1-9]\d* failures?"),
    _sort("tests", 63, "pytest,python", r"^=+ .{0,200}\b[1-9]\d* (?:failed|errors?)\b.{0,200} =+$"),
    _sort("tests", 63, "cargo test,cargo", r"^test result: FAILED"),
    _sort("tests", 63, "unittest,python,manage.py,runtests.py", r"^FAILED \((?:failures|errors)="),
    _sort("tests", 63, "", r"tests finished: .{0,300}\b(?:[1-9]\d* failed|[1-9]\d* exceptions)\b"),
    _sort("tests", 66, "flutter test,dart test,flutter,dart", r"^\d\d:\d\d \+\d+ (?:~\d+ )?-\d+: Some tests failed"),
    _sort("tests", 66, "sbt,mill,mvn", r"\*\*\* FAILED \*\*\*"),
    # What has run and raised.
    _sort("told", 74, _PY, r"^(?:E\s+)?(?P<said>fixture '(?P<keep>\w+)' not found)", last=True),
    _sort(
        "raised",
        68,
        _PY,
        r"^(?:E\s{2,})?(?P<said>(?:[A-Za-z_]\w*\.){0,6}(?:[A-Z]\w*(?:Error|Exception|Warning|NotReady|Failure|Configured|DoesNotExist|Interrupt|Timeout|Refused|Denied|NotFound)|DoesNotExist|MultipleObjectsReturned|NoReverseMatch|KeyboardInterrupt|SystemExit)(?:: [^\n]*)?)$",
        last=True,
    ),
    _sort("raised", 68, "go,go test", r"^panic: (?P<said>[^\n]+)"),
    _sort(
        "raised",
        69,
        "cargo,rustc",
        r"^thread '[^'\n]*'(?: \(\d+\))? panicked at (?:'(?P<said>[^'\n]+)'|\S+:\d+:\d+: ?(?P<said2>[^\n]+))",
    ),
    _sort(
        "raised", 67, "java,gradle,mvn", r"^Exception in thread \"[^\"\n]*\" (?:[\w$]+\.)*(?P<said>[\w$]+(?:: [^\n]*)?)"
    ),
    _sort(
        "raised",
        67,
        "ruby,rake,rails,rspec,bundle",
        r"^\S+\.rb:\d+:in [^\n]{1,300}: (?P<said>[^\n]+) \((?P<code>[A-Z][\w:]*)\)$",
    ),
    _sort(
        "raised",
        67,
        "php,artisan,composer,phpunit",
        r"^(?:PHP )?(?:Fatal|Parse) error: ++(?P<said>\S[^\n]*?)(?: in \S+(?: on line \d+|:\d+))?$",
    ),
    _sort("raised", 67, "perl", r"^(?P<said>Can't locate (?P<keep>[\w/:]+\.pm) in @INC)"),
    _sort("raised", 66, "lua", r"^lua\S*: \S+:\d+: (?P<said>[^\n]+)"),
    _sort("raised", 67, _JS, r"^(?:Uncaught )?(?P<said>(?:\w+Error|AssertionError)(?: \[\w+\])?: [^\n]+)$"),
    # Package managers.
    _sort("told", 72, "npm", r"^npm (?:ERR!|error) code (?P<said>(?P<keep>(?!ELIFECYCLE|EUSAGE\b|\d|1)E[A-Z0-9]+))"),
    _sort(
        "told",
        73,
        "npm",
        r"^npm (?:ERR!|error) (?P<said>(?:The `npm ci` command can only|`npm ci` can only install|Unsupported engine|Invalid package name|Cannot read)[^\n]*)",
    ),
    _sort("told", 72, "pnpm", r"(?P<said>(?P<keep>ERR_PNPM_\w{1,60}+)\s++[^\n]+)"),
    _sort("told", 71, "yarn", r"^(?:➤ )?(?P<code>YN\d{4}): .{0,8}?(?P<said>[A-Za-z@][^\n]+)"),
    _sort("told", 70, "yarn", r"^error (?P<said>(?!Command failed)[A-Z][^\n]+)", own=True),
    _sort(
        "told",
        72,
        "pip,pip install,uv pip install",
        r"^ERROR: (?P<said>(?:No matching distribution found for|Could not find a version that satisfies the requirement) (?P<keep>[\w.\[\]-]+))",
    ),
    _sort("told", 73, "pip,pip install", r"^error: (?P<said>externally-managed-environment)"),
    _sort("told", 66, "pip,pip install", r"^ERROR: (?P<said>[A-Z][^\n]+)", own=True),
    _sort("told", 71, "uv", r"^[×x] (?P<said>[A-Z][^\n]+)", own=True),
    _sort(
        "told",
        71,
        "poetry",
        r"^(?P<said>pyproject\.toml changed significantly[^\n]*|The command \"(?P<keep>[\w-]+)\" does not exist[^\n]*)",
    ),
    _sort("told", 72, "bundle", r"^(?P<said>Could not (?:find gem|locate Gemfile|find compatible versions)[^\n]*)"),
    _sort("told", 72, "apt,apt-get", r"^E: (?P<said>Unable to locate package (?P<keep>[\w.+-]+)|[A-Z][^\n]+)"),
    _sort(
        "told",
        72,
        "brew",
        r"^Error: (?P<said>No (?:available formula|formulae or casks)[^\n]*|[A-Z][^\n]+ is not installed[^\n]*)",
        own=True,
    ),
    # Some programs' own words.
    _sort(
        "told",
        85,
        "",
        r"^(?:-?(?:ba|z|da|k)?sh|\(eval\)):(?: line)?:? ?(?:\d+: ?|cd:\d+: ?)?(?P<by>cd|pushd|source)\b(?::\d+)?: (?:[^\n:]{1,300}: )?(?P<said>[Nn]o such file or directory|Not a directory|not a directory|Permission denied|too many arguments)",
    ),
    _sort(
        "told",
        85,
        "",
        r"^\(eval\):(?P<by>cd|pushd|source):\d*+:? ?(?P<said>no such file or directory|not a directory|permission denied|too many arguments)",
    ),
    _sort(
        "told",
        83,
        "",
        r"^(?P<by>[^\s:]{1,200}): line \d+: (?:[^\n:]{1,300}: )?(?P<said>No such file or directory|Permission denied|Is a directory|unbound variable|syntax error[^\n]*|unexpected EOF[^\n]*)",
    ),
    _sort(
        "told",
        76,
        "ssh,scp,rsync,git",
        r"^(?:ssh: (?P<said>[^\n]+)|(?P<said2>Host key verification failed|Permission denied \(publickey[^\n]*|kex_exchange_identification[^\n]*))",
    ),
    _sort("told", 76, "jq", r"^jq: (?:\d+ compile |compile |parse )?error(?: \([^)\n]*\))?: (?P<said>[^\n]+)"),
    _sort("told", 76, "sed", r"^g?sed: (?:-e expression #\d+, char \d+|\d+: [^:\n]{0,200}): (?P<said>[^\n]+)"),
    _sort(
        "told",
        72,
        "json.tool,python",
        r"^(?P<said>(?:Expecting|Extra data|Unterminated string|Invalid control character)[^\n:]{0,80}): line \d+ column",
    ),
    _sort("told", 71, "composer", r"^- (?P<said>[^\n]*\b(?:requires|conflicts|could not be found)\b[^\n]*)", own=True),
    _sort(
        "told",
        73,
        "ansible-playbook,ansible",
        r"^(?:fatal|failed): \[[^\]\n]{0,200}\]: [^\n]{0,400}?\"msg\": \"(?P<said>[^\"\n]+)\"",
        own=True,
    ),
    # Git and GitHub.
    _sort("told", 74, "git", r"^! \[(?:remote )?rejected\][^\n]*\((?P<said>[^()\n]+)\)"),
    _sort("told", 73, "git", r"^(?P<said>CONFLICT \([^)\n]+\))"),
    _sort("told", 72, "git", r"^fatal: (?P<said>not a git repository|[^\n]+)"),
    _sort(
        "told",
        71,
        "git",
        r"^error: (?P<said>(?:pathspec|Your local changes|could not apply|cannot (?:pull|rebase|lock)|patch (?:failed|does not apply)|corrupt patch|src refspec|The following untracked|unable to|failed to (?:push some refs|stash)|you need to resolve|object file|bad signature|Pulling is not possible|Committing is not possible|the branch)[^\n]*)",
    ),
    _sort("told", 72, "git commit,git,pre-commit", r"^(?P<said>[A-Za-z][^\n.]{1,80})\.{5,}[^\n]{0,40}Failed$"),
    _sort(
        "told",
        72,
        "gh",
        r"^(?:gh: |GraphQL: )?(?P<said>(?:HTTP \d{3}: |failed to |could not |no (?:pull requests|checks|git remotes|open)|a pull request|Unknown JSON field)[^\n]*)",
        own=True,
    ),
    _sort("told", 72, "gh", r"^gh: (?P<said>[^\n]+)"),
    # Containers, clusters, clouds.
    _sort(
        "told",
        75,
        "docker,docker compose,docker run,docker exec,docker compose exec,docker compose run,podman",
        r"^(?:docker: )?Error response from daemon: (?P<said>[^\n]+)",
    ),
    _sort(
        "told",
        75,
        "docker",
        r"(?P<said>Cannot connect to the Docker daemon)|(?P<said2>permission denied while trying to connect to the Docker daemon)",
    ),
    _sort(
        "told",
        73,
        "docker compose,docker compose exec,docker compose run,docker",
        r"^(?P<said>(?:service \"(?P<keep>[\w-]+)\" is not running|no such service: [\w-]++|no configuration file provided: not found|unable to prepare context|unable to get image)[^\n]*)",
    ),
    _sort("told", 60, "docker build,docker compose build,docker", r"^ERROR: (?P<said>failed to (?:solve|build)[^\n]*)"),
    _sort(
        "told",
        74,
        "kubectl,kubectl exec,helm",
        r"^(?:Error from server \((?P<code>\w+)\): |error: |Error: )(?P<said>(?:You must be logged in|the server doesn't have a resource|[^\n]{0,80} not found|INSTALLATION FAILED|UPGRADE FAILED|Unauthorized)[^\n]*)",
        own=True,
    ),
    _sort(
        "told",
        74,
        "kubectl",
        r"^(?P<said>The connection to the server \S+ was refused|Unable to connect to the server)[^\n]*",
    ),
    _sort("told", 74, "aws", r"^An error occurred \((?P<code>\w+)\) when calling (?P<said>the \w+ operation[^\n]*)"),
    _sort("told", 74, "gcloud", r"^ERROR: \(gcloud[\w.-]*\) (?P<said>[^\n]+)"),
    # Databases.
    _sort(
        "told",
        75,
        "psql,pg_dump,createdb,dropdb,pg_restore",
        r"^(?:psql|pg_dump|createdb|dropdb|pg_restore): error: (?P<said>[^\n]+)",
    ),
    _sort("told", 74, "psql", r"^(?:psql:\S+:\d+: )?(?:ERROR|FATAL):  (?P<said>[^\n]+)"),
    _sort("told", 75, "mysql,mysqldump,mariadb", r"^ERROR (?P<code>\d{4} \(\w{5}\))[^:\n]*: (?P<said>[^\n]+)"),
    _sort(
        "told",
        74,
        "sqlite3",
        r"^(?:Error|Parse error|Runtime error):? (?:near line \d++|in prepare|(?=near \"))[,:]? ?(?P<said>[^\n]+)",
        own=True,
    ),
    _sort("told", 74, "redis-cli", r"^(?P<said>Could not connect to Redis)[^\n]*"),
    _sort("told", 73, "prisma", r"^(?:Error: )?(?P<code>P\d{4}):? ?(?P<said>[^\n]*)"),
    # The net.
    _sort("told", 75, "curl", r"^curl: \((?P<code>\d+)\) (?P<said>[^\n]+)"),
    _sort("told", 74, "wget", r"^wget: (?P<said>[^\n]+)|^ERROR (?P<code>[45]\d\d): (?P<said2>[^\n]+)"),
    _sort(
        "told",
        70,
        "",
        r"(?P<said>(?P<keep>(?:connect |listen )?E(?:CONNREFUSED|ADDRINUSE|NOTFOUND|ACCES|PERM|TIMEDOUT|CONNRESET|MFILE|EXIST)))\b",
    ),
    _sort(
        "told",
        70,
        "",
        r"(?P<said>[Cc]onnection refused|[Aa]ddress already in use|No space left on device|[Tt]oo many open files|Could not resolve host)",
    ),
    # A program that was killed.
    _sort(
        "told",
        69,
        "",
        r"^(?:\S+: line \d+: +\d+ )?(?P<said>Segmentation fault|Killed|Aborted|Bus error|Illegal instruction)\b",
    ),
    _sort("told", 61, "", r"^signal: (?P<said>[^\n]+)"),
    # Gradle and Maven tell what went wrong below a heading.
    _sort(
        "told", 68, "gradle,gradlew", r"^> (?P<said>(?!Task|There were failing|Run with|Configure|Get more)[A-Z][^\n]+)"
    ),
    _sort(
        "told",
        61,
        "mvn,mvnw",
        r"^Failed to execute goal [^\n:]{1,200}:[^\n:]{1,200}:[^\n:]{1,200}:[^\n:]{1,200} (?P<said>[^\n]+)",
    ),
    # Anything that names itself, and then anything that sounds wrong.
    _sort(
        "told",
        64,
        "",
        r"^(?:\S*/)?(?P<by>(?!error:|remote:|warning:|fatal:|hint:|lint:|note:)[a-z][\w.+-]{0,30}): (?:error: |fatal: )?(?P<said>[^\n]*(?:No such file or directory|not found|[Pp]ermission denied|Is a directory|Not a directory|File exists|Operation not permitted|cannot|can't|invalid|unable|Invalid|failed|error|missing|expected|unterminated|unmatched|Unmatched|No match|not permitted|not a valid|does not exist|must be)[^\n]*)",
    ),
    _sort(
        "missing",
        63,
        "",
        r"^(?P<said>[^\n]*(?:[Nn]o such file or directory|command not found|[Pp]ermission denied|not recognized as)[^\n]*)$",
    ),
    _sort(
        "told",
        52,
        "",
        r"^(?:\S+ )?(?:fatal|error|Error|ERROR|FATAL|CRITICAL|Fatal error|Failed)\b(?:\[[\w-]+\])?:\s?(?P<said>[^\n:][^\n]+)$",
    ),
    _sort("told", 51, "", r"^(?:ERROR|FATAL|CRITICAL|✗|✖|❌|×)\s++(?P<said>\S[^\n]*)$"),
    _sort("told", 46, "", r"^\S+?\.[A-Za-z]\w{0,4}:\d+(?::\d+)?: ?(?P<said>(?!\s*:)[A-Za-z`'\"][^\n]*)$"),
    _sort(
        "told",
        40,
        "",
        r"^(?P<said>(?:[Cc]ould not|[Cc]annot|[Cc]an't|[Uu]nable to|[Ff]ailed to|[Ii]nvalid|[Mm]issing|[Uu]nknown|[Nn]o such)\b[^\n]+)$",
    ),
)
LINES = tuple(sorted(_BY_PROGRAM, key=lambda kind: -kind.weight))
"""The sorts, in the order in which they are tried on a line: the first that matches says what the line is."""

SUMMARY = lazy_re(
    r"^(?:error|ERROR): (?:the following command failed|Analysis of target|Build did NOT complete)|\d chart\(s\) linted|^fatal: Exiting because of"
    r"|^Script \S+ handling the \S+ event|build aborted$|"
    r"ERROR task failed|^g?make(?:\[\d+\])?: \*\*\* \[[^\n]*\](?: Error \d+| Terminated| Killed)?|^g?make(?:\[\d+\])?: (?:Leaving|Entering|Target)"
    r"|^FAILED \((?:failures|errors)=|^Found \d+ (?:errors?|problems?|warnings?|issues?|fixable)|^\d+ (?:errors?|problems?|warnings?|issues?|offenses?)\b"
    r"|^[✖✗×] \d+ (?:problems?|errors?)|^npm (?:ERR!|error)(?:$| code (?:ELIFECYCLE|EUSAGE|1\b|\d+$)| errno| A complete log| Exit status| This is probably not| Failed at the"
    r"| Lifecycle script| Test failed| path | workspace | location | command | in workspace| at location| signal| syscall| To see a list| npm run| Did you mean| {2,}| dest | Run | Usage| Options| \[--)"
    r"|^exit status \d+$|^[Pp]rocess completed with exit code|^(?:Error: )?[Pp]rocess (?:exited|finished) with|^(?:<returncode>)?\d+(?:</returncode>)?$|^Exit code:? \d+"
    r"|^error: could not compile|aborting due to|^For more information about this error|^error: test failed, to rerun|^error: [Rr]ecipe [^\n]{1,80} (?:failed|was terminated)"
    r"|^task: Failed to run task|Command failed with exit code \d|\bELIFECYCLE\b|^BUILD FAIL|^FAILURE: Build failed|^ninja: (?:build stopped|error: rebuilding)"
    r"|^(?:error|info) (?:Command failed|Visit)|^hint:|^Traceback \(most|^During handling|^The above exception|^-> \[Help|^To see the full|^Re-run Maven|^For more information about the errors"
    r"|did not complete successfully: exit code|^Automatic merge failed|^error: failed to push some refs|^After correcting|^husky |hook (?:exited|declined|failed)|pre-commit hook"
    r"|^Tests?:? +\d|^Test Suites?:|^Test Files|^\d+ (?:passed|failed)|^error: \d+ (?:errors?|targets?)|^\[ERROR\] *$|^error: process didn't exit|^Caused by: *$|^stderr:|^stdout:"
    r"|^subprocess\.CalledProcessError|^E   subprocess\.CalledProcessError|returned non-zero exit status|^mise ERROR (?:Run with|Version|\[|sh exited|command .{0,200} exited|Process)"
    r"|^Your branch is|^×? ?(?:Process|Command) exited|^Exited with code|^script returned exit code|^ERROR: Job failed|^Run with --stacktrace|^\* (?:What went wrong|Try|Get more)|^usage:|^Usage:"
    r"|^note: |^warning: |^WARN(?:ING)?\b|^\[WARN|^npm warn|^npm WARN|^\S+: (?:Deprecation|Future|User|Syntax|Resource|Runtime)Warning|^\d+ warnings? generated|^collected \d+|^INFO\b|^DEBUG\b"
)
"""Lines that only say that something failed, or sum up, or warn."""
