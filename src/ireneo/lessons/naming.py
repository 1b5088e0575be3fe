"""What a program is called: by its words alone, the same wherever and however it is started."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from msgspec import Struct

from ireneo.patterns import lazy_re

# What is known of programs: which start others, which have subcommands, and which options take a value.


class Wrapper(Struct, frozen=True, kw_only=True):
    """A program, or a subcommand of one, that starts another program."""

    valued: frozenset[str] = frozenset()
    """Its options that take the next word."""
    skips: int = 0
    """Words of its own that stand before the program: a duration, a service, a host."""
    shown: bool = True
    """It belongs to how the command is called; ``timeout`` does not."""
    marks: frozenset[str] = frozenset()
    """What it starts stands behind one of these."""
    module: bool = False
    """``-m`` names a Python module to run."""
    sets: bool = False
    """Words of the form ``NAME=value`` may stand first."""
    text: bool = False
    """What it starts is a command line of its own: the rest of the words, joined."""


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


_DASHES = frozenset({"--"})
_COMMAND = _words("-c --command --run")
_PLAIN = Wrapper(shown=False)
_RUNS = Wrapper(valued=_words("-C -P --directory --project --venv -p -e --env --env-file"))
_UV = Wrapper(
    valued=_words(
        "--with --with-editable --with-requirements --extra --no-extra --group --only-group --no-group --python -p"
        " --project --directory --env-file --package --index --index-url --extra-index-url --from -w --cache-dir"
        " --color --config-file --isolated-from"
    ),
    module=True,
)
_BOX = Wrapper(
    valued=_words("-u --user -e --env -w --workdir --env-file --index --detach-keys -p --project-name"), skips=1
)
_NEW_BOX = Wrapper(
    valued=_words(
        "-u --user -e --env -w --workdir --env-file -v --volume -p --publish --name --network --net --mount"
        " -m --memory"
        " --cpus --platform --entrypoint -l --label -h --hostname --add-host --gpus --shm-size --ulimit --pull"
        " --device"
        " --cap-add --security-opt --restart --tmpfs --link --expose --dns --ipc --pid --userns"
    ),
    skips=1,
)

WRAPPERS: Mapping[str, Wrapper] = {
    "sudo": Wrapper(valued=_words("-u -g -h -p -C -D -R -T -U"), sets=True),
    "doas": Wrapper(valued=_words("-u -C")),
    "env": Wrapper(valued=_words("-u -C -S --unset --chdir"), shown=False, sets=True),
    "cross-env": Wrapper(shown=False, sets=True),
    "dotenv": Wrapper(valued=_words("-e -f -c"), shown=False, sets=True),
    "time": Wrapper(valued=_words("-f -o"), shown=False),
    "timeout": Wrapper(valued=_words("-k -s --signal --kill-after"), skips=1, shown=False),
    "gtimeout": Wrapper(valued=_words("-k -s --signal --kill-after"), skips=1, shown=False),
    "nice": Wrapper(valued=_words("-n"), shown=False),
    "ionice": Wrapper(valued=_words("-c -n"), shown=False),
    "stdbuf": Wrapper(valued=_words("-o -e -i"), shown=False),
    "taskset": Wrapper(skips=1, shown=False),
    "chroot": Wrapper(skips=1),
    "watch": Wrapper(valued=_words("-n --interval"), shown=False, text=True),
    "strace": Wrapper(valued=_words("-e -o -p -s"), shown=False),
    "xargs": Wrapper(
        valued=_words("-n -P -I -L -d -a -s -E --max-args --max-procs --replace --delimiter"), shown=False
    ),
    **dict.fromkeys(
        "nohup exec builtin setsid caffeinate chronic unbuffer xvfb-run ltrace winpty busybox noglob".split(), _PLAIN
    ),
    "command": _PLAIN,
    "npx": Wrapper(valued=_words("-p --package -w --workspace --prefix")),
    "npm exec": Wrapper(valued=_words("-p --package -w --workspace --prefix")),
    "bunx": Wrapper(),
    "pnpx": Wrapper(),
    "pnpm exec": Wrapper(),
    "pnpm dlx": Wrapper(valued=_words("--package")),
    "yarn exec": Wrapper(),
    "yarn dlx": Wrapper(valued=_words("-p --package")),
    "lerna exec": Wrapper(valued=_words("--scope --concurrency")),
    "corepack": Wrapper(shown=False),
    "uv run": _UV,
    "uvx": _UV,
    "uv tool run": _UV,
    "poetry run": _RUNS,
    "pipenv run": _RUNS,
    "pdm run": _RUNS,
    "rye run": _RUNS,
    "pipx run": Wrapper(valued=_words("--spec --python --index-url --pip-args")),
    "coverage run": Wrapper(
        valued=_words("--source --omit --include --rcfile --branch-from --data-file --context"), module=True
    ),
    "bundle exec": Wrapper(),
    "rbenv exec": Wrapper(shown=False),
    "asdf exec": Wrapper(shown=False),
    "rustup run": Wrapper(skips=1, shown=False),
    "docker compose exec": _BOX,
    "docker compose run": _NEW_BOX,
    "podman compose exec": _BOX,
    "podman compose run": _NEW_BOX,
    "docker exec": _BOX,
    "podman exec": _BOX,
    "docker run": _NEW_BOX,
    "podman run": _NEW_BOX,
    "kubectl exec": Wrapper(valued=_words("-n --namespace -c --container --context -f"), skips=1, marks=_DASHES),
    "oc exec": Wrapper(valued=_words("-n --namespace -c --container --context -f"), skips=1, marks=_DASHES),
    "ssh": Wrapper(valued=_words("-i -p -o -l -F -J -L -R -D -E -c -m -b -W -S"), skips=1, text=True),
    "vagrant ssh": Wrapper(marks=_COMMAND, text=True),
    "heroku run": Wrapper(valued=_words("-a --app -r"), text=True),
    "mise exec": Wrapper(marks=_DASHES),
    "nix develop": Wrapper(marks=_COMMAND),
    "nix shell": Wrapper(marks=_COMMAND),
    "nix-shell": Wrapper(valued=_words("-p -A -I"), marks=_COMMAND, text=True),
    "direnv exec": Wrapper(skips=1),
    "devbox run": Wrapper(marks=_DASHES),
    "conda run": Wrapper(valued=_words("-n -p --name --prefix --cwd")),
    "mamba run": Wrapper(valued=_words("-n -p --name --prefix --cwd")),
    "micromamba run": Wrapper(valued=_words("-n -p --name --prefix --cwd")),
    **dict.fromkeys(("doppler run", "op run", "infisical run"), Wrapper(marks=_DASHES)),
    **dict.fromkeys(("aws-vault exec", "chamber exec"), Wrapper(skips=1, marks=_DASHES)),
}
"""By their names."""

BARE_ONLY_WHEN_MARKED = frozenset({"nix develop", "nix shell", "nix-shell", "vagrant ssh", "devbox run"})
"""Wrappers that start another program only where a mark says so."""

FETCHED = frozenset({"npx", "npm exec", "bunx", "pnpx", "pnpm dlx", "yarn dlx", "uvx", "uv tool run"})
"""Wrappers that fetch what they run: it may be named with its version."""

_NPM = "--prefix -C --dir --cwd -w --workspace --filter -F --loglevel --registry --tag --userconfig --cache"

VALUED: Mapping[str, frozenset[str]] = {
    "git": _words("-C -c --git-dir --work-tree --namespace --exec-path --config-env"),
    **dict.fromkeys(("npm", "pnpm", "yarn", "bun"), _words(_NPM)),
    "make": _words("-C -f -I -o -W -l --directory --file --makefile --include-dir -E --eval"),
    "ninja": _words("-C -f -j -k -l -d -t"),
    "go": _words("-C"),
    "cargo": _words("--manifest-path --color --config -C -Z -p --package --target --features -j --jobs"),
    **dict.fromkeys(
        ("docker", "podman"),
        _words(
            "-H --host --context -c --config -l --log-level -f --file -p --project-name --profile --env-file"
            " --project-directory --ansi --parallel"
        ),
    ),
    **dict.fromkeys(
        ("kubectl", "oc", "helm"),
        _words("-n --namespace --context --kube-context --kubeconfig --cluster --user -s --server --as --token"),
    ),
    **dict.fromkeys(("terraform", "tofu"), _words("-chdir")),
    "gh": _words("-R --repo --hostname"),
    "glab": _words("-R --repo"),
    "mise": _words("-C --cd -E --env -j --jobs --output"),
    "just": _words("-f --justfile -d --working-directory --dotenv-path --set --shell --color"),
    "task": _words("-d --dir -t --taskfile -o --output -C --concurrency"),
    "poetry": _words("-C --directory -P --project"),
    "uv": _words("--directory --project --python -p --color --config-file --cache-dir"),
    "pip": _words("--python --log --proxy --timeout --cache-dir --cert"),
    "bundle": _words("--gemfile"),
    "aws": _words("--profile --region --output --endpoint-url --query"),
    "gcloud": _words("--project --account --format --configuration --verbosity"),
    "az": _words("--subscription -o --output --query"),
    **dict.fromkeys(
        ("gradle", "gradlew"),
        _words(
            "-p --project-dir -x --exclude-task --tests -b --build-file -c --settings-file -I --init-script"
            " -g --gradle-user-home --max-workers --console --warning-mode -P --configuration"
        ),
    ),
    **dict.fromkeys(
        ("mvn", "mvnw"),
        _words(
            "-pl --projects -f --file -P --activate-profiles -T --threads -s --settings -rf --resume-from -l -gs -t -ps"
        ),
    ),
    "xcodebuild": _words(
        "-scheme -project -workspace -target -configuration -sdk -destination -derivedDataPath -arch"
        " -resultBundlePath -only-testing -skip-testing -testPlan -archivePath -exportPath"
    ),
    "celery": _words("-A --app -b --broker --workdir"),
    "flask": _words("-A --app -e --env-file"),
    "alembic": _words("-c --config -n --name -x"),
    **dict.fromkeys(("nox", "tox"), _words("-f --noxfile -c --conf -p --parallel -P --python --workdir -x")),
    "ansible": _words("-i"),
    "rake": _words("-f --rakefile -C --directory"),
    "bazel": _words("--output_base --bazelrc"),
    "nx": _words("-c --configuration --parallel"),
    "turbo": _words("--filter --cwd --concurrency --cache-dir"),
    "composer": _words("-d --working-dir"),
    "swift": _words("--package-path"),
    "systemctl": _words("-H -M"),
    "brew": frozenset(),
    **dict.fromkeys(("apt", "apt-get"), _words("-o -t -c")),
    "adb": _words("-s -H -P -t"),
    "dotnet": frozenset(),
    "supabase": _words("--workdir --project-ref"),
    "prisma": _words("--schema"),
}
"""Options that take the next word, by program: what stands behind them is no subcommand."""

GROUPS: Mapping[str, frozenset[str]] = {
    "git": _words("stash remote worktree submodule bisect lfs notes sparse-checkout maintenance"),
    "gh": _words(
        "pr issue repo run release workflow auth label gist project secret variable cache search extension codespace"
        " ruleset alias config gpg-key ssh-key org"
    ),
    "glab": _words("mr issue ci repo release auth pipeline"),
    **dict.fromkeys(
        ("docker", "podman"),
        _words("compose container image volume network buildx system builder context manifest stack service machine"),
    ),
    "kubectl": _words("rollout config auth create set top certificate"),
    "helm": _words("repo dependency plugin get registry show"),
    "npm": _words("run config cache pkg"),
    "bun": _words("run pm"),
    "cargo": _words("nextest xtask make sqlx leptos tauri hack llvm-cov"),
    "go": _words("mod work tool"),
    "mise": _words("run tasks settings plugins cache"),
    "uv": _words("pip tool python cache self"),
    "poetry": _words("env self cache source"),
    "conda": _words("env config"),
    "terraform": _words("state workspace providers"),
    "tofu": _words("state workspace providers"),
    "dotnet": _words("tool ef nuget sln workload"),
    "flutter": _words("pub config"),
    "dart": _words("pub"),
    "nix": _words("flake profile store"),
    "rustup": _words("target component toolchain default"),
    "prisma": _words("migrate db"),
    "supabase": _words("db functions migration gen projects secrets"),
    "brew": _words("services bundle"),
    "flask": _words("db"),
    "deno": _words("task"),
    "hatch": _words("run env"),
    "devbox": _words("run"),
    "pre-commit": frozenset(),
    "nx": _words("run"),
    "lerna": _words("run"),
    "wrangler": _words("d1 kv r2 pages secret"),
    "firebase": _words("functions hosting"),
    **dict.fromkeys(("aws", "gcloud", "az"), _words("*")),
}
"""Subcommands that have subcommands, or tasks, of their own; ``*`` stands for any."""

SUBCOMMANDS = frozenset(
    [
        *GROUPS,
        *(
            "apt apt-get yum dnf pacman apk bundle composer systemctl service launchctl pip pip-compile pdm"
            " pipenv pipx rye rails"
            " django-admin manage.py artisan console alembic celery ruff go ninja swift just rake task invoke"
            " inv fab doit"
            " poe gulp grunt ant tox nox turbo bazel bazelisk pants buck2 vagrant packer pulumi serverless sam"
            " cdk vite"
            " next nuxt astro ng expo playwright cypress wrangler vercel netlify fly flyctl heroku mix lein"
            " stack cabal zig"
            " meson dagger skaffold tilt minikube kind k3d ansible-galaxy snap port choco winget scoop gem rbenv"
            " pyenv nvm volta asdf direnv devenv setup.py dbt airflow mlflow wandb huggingface-cli hf coverage"
            " yarn pnpm"
            " linear jira sentry-cli supervisorctl pm2 forge cast anvil hardhat truffle expo eas pod fastlane tuist"
            " wails buf protoc-gen sqlx diesel goose migrate atlas flyway liquibase mkdocs jekyll hugo gatsby redocly"
            " changeset semantic-release goreleaser ko crane skopeo kustomize istioctl argocd flux vault consul nomad"
            " tailscale ngrok cloudflared op doppler tmux zellij screen opam dune rebar3 gleam elm spago"
            " nimble shards"
            " crystal v julia mamba micromamba nix-env nix-channel lake elan ollama claude codex gemini xcrun"
            " swiftlint"
        ).split(),
    ]
)
"""Programs whose first plain word says what they do: ``git push`` is another thing than ``git log``."""

TASKS = frozenset(
    "make gmake ninja gradle gradlew mvn mvnw rake just task invoke inv gulp grunt ant poe doit mage".split()
)
"""Programs whose plain words are tasks: all of them belong to the name."""
SESSIONS: Mapping[str, frozenset[str]] = {"nox": _words("-s -e --session --sessions"), "tox": _words("-e")}
"""Programs whose task is the value of an option."""
OWN_COMMANDS: Mapping[str, frozenset[str]] = {
    "mise": _words(
        "activate alias backends bin-paths cache completion config current deactivate direnv doctor en env exec fmt"
        " generate implode install install-into latest link ls ls-remote lock outdated plugins plugin prepare prune"
        " registry reshim run search self-update set settings shell sync tasks test-tool tool tool-alias tool-"
        " stub trust"
        " uninstall unset unuse upgrade up use version watch where which"
    ),
}
"""Where another first word is a task: ``mise lint`` is ``mise run lint``."""

ALIASES: Mapping[str, str] = {
    "npm t": "npm test",
    "npm tst": "npm test",
    "npm run test": "npm test",
    "npm run start": "npm start",
    "npm i": "npm install",
    "npm add": "npm install",
    "npm rm": "npm uninstall",
    "pnpm i": "pnpm install",
    "pnpm t": "pnpm test",
    "yarn install": "yarn",
    "bun i": "bun install",
    "cargo t": "cargo test",
    "cargo b": "cargo build",
    "cargo c": "cargo check",
    "cargo r": "cargo run",
    "docker ps": "docker ps",
    "kubectl delete": "kubectl delete",
    "composer i": "composer install",
    "rails t": "rails test",
    "vitest run": "vitest",
    "make all": "make",
}
"""One thing under two names."""
RENAMED: Mapping[str, str] = {
    "docker-compose": "docker compose",
    "podman-compose": "podman compose",
    "gmake": "make",
    "egrep": "grep",
    "fgrep": "grep",
    "nodejs": "node",
    "invoke": "inv",
    "golangci-lint-v2": "golangci-lint",
    "batcat": "bat",
    "fdfind": "fd",
    "[": "test",
    "[[": "test",
    ".": "source",
    "py": "python",
}

PLAIN_PROGRAMS = frozenset(
    (
        "command grep rg ag ack cat head tail less more ls tree find fd wc sort uniq cut tr tee awk gawk sed perl"
        " diff cmp comm join"
        " paste nl od xxd hexdump strings file stat du df free ps top htop kill killall pkill pgrep lsof ss"
        " netstat ip"
        " ifconfig ping dig nslookup host curl wget http nc telnet ssh scp sftp rsync tar zip unzip gzip"
        " gunzip zcat xz bzip2"
        " cp mv rm ln mkdir rmdir touch chmod chown chgrp mktemp dd sync mount umount cd pwd pushd popd echo"
        " printf yes true false"
        " test expr let seq date cal sleep wait env export set unset source alias type which whereis whatis"
        " man info help"
        " hash history id whoami who groups hostname uname uptime exit return read eval trap shift local"
        " declare readonly"
        " basename dirname realpath readlink jq yq xq column fold fmt rev tac shuf split csplit base64 md5sum"
        " sha1sum sha256sum"
        " shasum md5 cksum openssl gpg vim vi nano emacs code open pbcopy pbpaste xdg-open bat delta fzf patch ed ex"
        " pytest py.test mypy pyright pylint flake8 black isort autopep8 yapf bandit pycodestyle pydocstyle"
        " vulture basedpyright ty"
        " unittest eslint prettier tsc jest mocha ava stylelint biome tsup esbuild rollup webpack rustc"
        " rustfmt gofmt goimports"
        " staticcheck golangci-lint gcc g++ cc c++ clang clang++ clang-format clang-tidy ld ar nm objdump ldd"
        " gdb lldb valgrind"
        " cmake ctest javac java kotlinc kotlin scalac scala swiftc swiftlint rubocop rspec phpunit phpstan"
        " psalm shellcheck shfmt"
        " hadolint yamllint markdownlint actionlint bats cppcheck psql mysql sqlite3 redis-cli mongosh mongo"
        " pg_dump pg_restore"
        " pg_isready createdb dropdb ab wrk hey k6 locust gunicorn uvicorn ffmpeg ffprobe convert magick"
        " pdftotext pandoc"
        " pdflatex xelatex latexmk dot sphinx-build timeout crontab at logger journalctl dmesg strip install"
        " python node ruby php lua julia Rscript bash sh zsh fish dash ksh pwsh tsx ts-node cl cscript cmd nvidia-smi"
        " tsserver vitest concurrently nodemon pdb ipython jupyter ansible-playbook protoc thrift flatc xmllint tidy"
        " json.tool http.server venv virtualenv compileall cProfile timeit pydoc doctest ed25519 apply_patch"
        " applypatch"
        " bc dc factor watchman inotifywait entr parallel script tput stty reset clear ulimit umask getconf"
        " locale sysctl lsblk"
        " goimports-reviser gosec errcheck ineffassign misspell gocyclo revive gotestsum gopls dlv delve air"
    ).split()
)
"""Programs whose first word is a file, a pattern or a value."""

FOLDERS = frozenset("src lib docs doc tests app apps pkg packages internal examples scripts build dist".split())
"""First words that are folders, whatever the program is."""

MOVES = frozenset(
    "cd pushd popd export source set unset true : sleep echo pwd printf wait alias shopt umask trap eval"
    " local declare"
    " typeset readonly exit return break continue shift read date false hash".split()
)
"""What a command does on the way to what it is about."""
NEVER_FAILS = frozenset(
    "echo printf true : pwd sleep export unset set alias shopt umask trap wait declare typeset local readonly exit"
    " return break continue false head tail tee sort uniq wc cut tr column nl rev tac fold date seq clear"
    " basename dirname".split()
)
"""Programs that don't fail by themselves, or only by saying so under their own name."""
FILTERS = frozenset(
    "grep head tail less more tee sort uniq wc cut tr sed awk gawk jq column nl cat rg xxd od fold rev tac bat".split()
)
"""What stands behind a pipe to show less of what came."""
SOURCES = frozenset("echo printf cat yes true seq ls find".split())
"""What stands before a pipe only to hand something over."""
LOOKS_ONLY = frozenset(
    "cat head tail ls echo rm cp mv mkdir touch grep rg find sed wc nl rmdir which cd sort uniq diff tree file stat"
    " pwd printf awk less jq".split()
)
"""Programs that seldom fail by what other programs did; where they do they name themselves."""

SHELLS = frozenset("bash sh zsh dash ksh ash fish".split())
INTERPRETER = lazy_re(r"(?:python|pypy|node|ruby|perl|deno|php|ts-node|tsx|bun|Rscript|lua|julia|swift|elixir)[\d.]*\Z")
CODE_OPTIONS = _words("-c -e -p -r --eval --print -E")
"""Options of an interpreter whose value is code."""
VALUED_OF_INTERPRETERS = _words("-W -X -I -r --require --import --loader -C -L --experimental-loader --env-file")
DISPATCHERS = frozenset("manage.py artisan console setup.py".split())
"""Scripts whose first word is a subcommand."""


# What a program is called: by its words alone, the same wherever and however it is started.


_ASSIGNS = lazy_re(r"\w+\+?=")
_SUBCOMMAND = lazy_re(r"[A-Za-z][\w:.-]*\Z")
_TASK = lazy_re(r"(?=[^A-Za-z]*+[A-Za-z])[:\w./@#-]++\Z")
_NUMBER = lazy_re(r"\d")
_VERSION = lazy_re(r"(?<=[A-Za-z])[\d.]+\Z")
_AT_VERSION = lazy_re(r"(?<=.)@[^/]*\Z")
_NUMBERED = frozenset("python pip pypy ruby node php perl clang gcc g++ lua".split())
_SCRIPT = lazy_re(r"[\w.-]+\.(?:py|js|mjs|cjs|ts|mts|rb|pl|php|lua|jl|R|sh|exs?)\Z")
_SAYS_IT = lazy_re(
    r"(?:^|[-_./])(?:run)?(?:tests?|run|lint|check|build|fmt|format|deploy|install|setup|start|stop|bootstrap|clean|verify"
    r"|gen|generate|release|publish|migrate|update|sync|fix|repro\w*)(?:[-_.]|$)"
)
"""A script that is called after what it does: its first word is what it is done to."""
_MOST_WORDS = 3
_LONGEST_NAME = 80
_VERBS = frozenset("deploy list create delete describe update get add remove show start stop".split())
_MOST_WRAPPERS = 8
_SHOWN_FOLDER = lazy_re(r"(?:\./)?(?!\.\.)(?:[\w.-]+/){1,3}[\w.-]+\Z")


class Named(Struct, frozen=True):
    """A program with its arguments, and what it is called."""

    words: tuple[str, ...]
    """Without wrappers."""
    name: str = ""
    through: tuple[str, ...] = ()
    before: tuple[str, ...] = ()
    """What to write before the program, of the wrappers that belong to how it is called."""
    shown: str = ""
    line: str | None = None
    """A command line that it hands to a shell."""


def name_of(words: Sequence[str]) -> Named:
    """Take the wrappers off, and say what is left."""
    if not words or not program_name(words[0]):
        return Named(tuple(words))
    rest = list(words)
    through: list[str] = []
    before: list[str] = []
    for _ in range(_MOST_WRAPPERS):
        while rest and _ASSIGNS.match(rest[0]):
            rest = rest[1:]
        found = _unwrapped(rest)
        if found is None:
            break
        label, shown, rest, wrapper = found
        through.append(label)
        if shown:
            before.append(shown)
        if wrapper.text:
            return Named(tuple(rest), name=label, through=tuple(through), before=tuple(before), line=" ".join(rest))
    if not rest or not program_name(rest[0]):
        return Named(tuple(words), name=_joined(words[:1]), through=(), shown=_joined(words[:1]))
    line = _line_of(rest)
    name, shown = _called(rest)
    if line is not None:
        return Named(tuple(rest), name=name, through=tuple(through), before=tuple(before), shown=shown, line=line)
    return Named(tuple(rest), name=name, through=tuple(through), before=tuple(before), shown=shown)


def _joined(words: Sequence[str]) -> str:
    return " ".join(words)


def program_name(word: str) -> str:
    """A program without its folder, and without the version in its name; empty for what can be none."""
    name = word.rstrip("/").rsplit("/", 1)[-1].rsplit("\\", 1)[-1] or word
    name = name.removesuffix(".exe")
    if not name.isprintable() or " " in name or len(name) > _LONGEST_NAME:
        return ""
    bare = _VERSION.sub("", name)
    name = bare if bare in _NUMBERED and name != "python2" else name
    if name in ("test", "time", "[") and "/" in word.strip("./"):
        return "/".join(word.split("/")[-2:])  # `bin/test` is not what a shell calls so.
    return RENAMED.get(name, name)


def _unwrapped(words: Sequence[str]) -> tuple[str, str, list[str], Wrapper] | None:
    """The first wrapper of `words`: its name, how it is shown, what it starts."""
    name = program_name(words[0]) if words else ""
    if not name:
        return None
    if words[0] == "-m" and len(words) > 1:
        return "python -m", "-m", list(words[1:]), Wrapper()  # Behind a wrapper that runs modules itself.
    if name == "python" and (module := _module(words)) is not None:
        return "python -m", f"{_as_shown(words[0], name)} -m", module, Wrapper()
    lead, rest = _lead(name, words)
    for count in (3, 2, 1):
        label = _joined(lead[:count])
        wrapper = WRAPPERS.get(label)
        if wrapper is not None and len(lead) >= count:
            break
    else:
        return None
    if count < len(lead):
        rest = [*lead[count:], *rest] if count > 1 else list(words[1:])
    if label == "command" and rest[:1] in (["-v"], ["-V"]):
        return None
    own, inside = _behind(label, wrapper, rest)
    if not inside:
        return None
    shown = _joined((label, *own)) if wrapper.shown else ""
    return label, shown, inside, wrapper


def _lead(name: str, words: Sequence[str]) -> tuple[list[str], list[str]]:
    """The program with its next plain words, options in between left out, and what stands behind them."""
    lead, rest = name.split(), list(words[1:])
    valued = VALUED.get(lead[0], frozenset())
    while rest and len(lead) < 3:
        word = rest[0]
        if lead == ["cargo"] and word.startswith("+"):
            rest = rest[1:]
        elif word.startswith("-") and word != "--" and len(word) > 1 and _joined(lead) not in WRAPPERS:
            rest = rest[2:] if word in valued else rest[1:]
        elif _SUBCOMMAND.match(word) and _joined(lead) not in WRAPPERS and lead[0] in SUBCOMMANDS | {"nix"}:
            lead.append(word)
            rest = rest[1:]
        else:
            break
    if lead[:2] == ["mise", "x"]:
        lead[1] = "exec"
    if lead[:2] in (["npm", "x"], ["yarn", "x"]):
        lead[1] = "exec"
    return lead, rest


def _behind(label: str, wrapper: Wrapper, words: Sequence[str]) -> tuple[list[str], list[str]]:
    """Of the words behind a wrapper: its own that are no options, and those that it starts."""
    if wrapper.marks:
        marked = next((place for place, word in enumerate(words) if word in wrapper.marks), None)
        if marked is not None:
            plain = [each for each in words[:marked] if not each.startswith("-")]
            return plain[: wrapper.skips], list(words[marked + 1 :])
        if label in BARE_ONLY_WHEN_MARKED:
            return [], []
    own, rest = _past_options(wrapper, words)
    if label in FETCHED and rest:
        rest[0] = _AT_VERSION.sub("", rest[0])
    return own, rest


def _past_options(wrapper: Wrapper, words: Sequence[str]) -> tuple[list[str], list[str]]:
    own: list[str] = []
    rest = list(words)
    while rest:
        word = rest[0]
        if word == "--":
            rest = rest[1:]
            if len(own) >= wrapper.skips:
                break
        elif wrapper.module and word in ("-m", "--module"):
            return own, ["-m", *rest[1:]]
        elif word.startswith("-") and len(word) > 1:
            rest = rest[2:] if word in wrapper.valued else rest[1:]
        elif wrapper.sets and _ASSIGNS.match(word):
            rest = rest[1:]
        elif len(own) < wrapper.skips:
            own.append(word)
            rest = rest[1:]
        else:
            break
    return own, rest


def _module(words: Sequence[str]) -> list[str] | None:
    """What ``python -m`` runs."""
    rest = list(words[1:])
    while rest and rest[0].startswith("-"):
        if rest[0] == "-m":
            return rest[1:] or None
        if rest[0] in CODE_OPTIONS:
            return None
        rest = rest[2:] if rest[0] in VALUED_OF_INTERPRETERS else rest[1:]
    return None


def _line_of(words: Sequence[str]) -> str | None:
    """The command line that a shell is given as a word: ``bash -c '…'``, ``eval '…'``."""
    name = program_name(words[0])
    if name == "eval":
        line = _joined(words[1:])
        return None if line.lstrip().startswith(("$(", "`")) else line
    if name not in SHELLS and name != "su":
        return None
    for place, word in enumerate(words[1:], 1):
        if re.fullmatch(r"-[a-z]*c", word):
            return words[place + 1] if place + 1 < len(words) else None
        if not word.startswith("-") and word != "pipefail" and name != "su":
            return None
    return None


def _called(words: Sequence[str]) -> tuple[str, str]:
    """What a program is called anywhere, and how it was called here."""
    name = program_name(words[0])
    shown = _as_shown(words[0], name)
    if INTERPRETER.match(name) or name in SHELLS:
        return _of_interpreter(name, shown, words)
    said = _subcommands(name, words)
    full = _joined((name, *said))
    full = ALIASES.get(full, full)
    if full.split()[0] != name.split()[0]:
        return full, full
    return full, _joined((shown, *full.split()[len(name.split()) :]))


def _as_shown(word: str, name: str) -> str:
    """The program as it was written, where its folder is one of the project."""
    if _SHOWN_FOLDER.match(word) and not word.startswith("/"):
        return word.removeprefix("./") if word.count("/") > 1 else word
    # Where `python` is not found, `python3` may be: how it was called is told, while its name is one.
    written = word.rsplit("/", 1)[-1]
    return written if written != name and _VERSION.sub("", written) == name else name


def _of_interpreter(name: str, shown: str, words: Sequence[str]) -> tuple[str, str]:
    rest = list(words[1:])
    if name in ("deno", "bun", "swift", "elixir") and rest and not _SCRIPT.match(rest[0].rsplit("/", 1)[-1]):
        said = _subcommands(name, words)
        return _joined((name, *said)), _joined((shown, *said))
    while rest and rest[0].startswith("-") and rest[0] != "-":
        if rest[0] in CODE_OPTIONS or rest[0] == "-s":
            return name, shown
        if name == "node" and rest[0] == "--test":
            return "node --test", f"{shown} --test"
        rest = rest[2:] if rest[0] in VALUED_OF_INTERPRETERS else rest[1:]
    if not rest or rest[0] in ("-", "<<") or "$" in rest[0]:
        return name, shown
    script = program_name(rest[0])
    said = _subcommands(script, rest) if script in DISPATCHERS or script.endswith(".sh") else ()
    return _joined((script, *said)), _joined((shown, _as_shown(rest[0], script), *said))


def _subcommands(name: str, words: Sequence[str]) -> tuple[str, ...]:
    """The words that say what the program does."""
    program, *of_name = name.split()
    rest = list(words[1:])
    valued = VALUED.get(program, frozenset())
    said: list[str] = list(of_name)
    if program in SESSIONS:
        return _session(program, rest)
    if program in TASKS:
        return _tasks(program, rest, valued)
    if program == "xcodebuild":
        actions = [each for each in _positional(rest, valued) if _SUBCOMMAND.match(each)]
        return tuple(actions[-1:])
    known = program in SUBCOMMANDS
    takes_files = program in PLAIN_PROGRAMS or ("." in program and not program.endswith(".sh"))
    if not known and (takes_files or _SAYS_IT.search(program)):
        return ()
    groups = GROUPS.get(program, frozenset())
    plain = _positional(rest, valued)
    for word in plain[2:] if program == "yarn" and plain[:1] == ["workspace"] else plain:
        if program == "cargo" and word.startswith("+"):
            continue
        fits = _TASK.match(word) if said and said[-1] in ("run", "task") else _SUBCOMMAND.match(word)
        if not fits or (not known and (word in FOLDERS or "." in word or not word.islower())):
            break
        said.append(word)
        if len(said) == _MOST_WORDS or not _goes_on(program, said, groups):
            break
    return tuple(said[len(of_name) :]) if of_name else _settled(program, said, rest)


def _goes_on(program: str, said: Sequence[str], groups: frozenset[str]) -> bool:
    """Whether the next word belongs to the name as well."""
    if program in ("npm", "pnpm", "yarn", "bun", "hatch", "composer", "turbo", "nx", "lerna", "pdm") and said[0] in (
        "run",
        "run-script",
    ):
        return len(said) == 1
    if program == "mise" and list(said[:2]) == ["tasks", "run"]:
        return True
    if program == "mise" and said[0] == "r":
        return len(said) == 1
    if program == "go" and said[0] == "run":
        return False
    deep = said[-1] not in _VERBS and (program in ("gcloud", "az") or (program == "dotnet" and said[0] == "ef"))
    return (len(said) == 1 or (deep and len(said) == 2)) and (said[0] in groups or "*" in groups)


def _settled(program: str, said: list[str], rest: Sequence[str]) -> tuple[str, ...]:
    """One of several ways to call the same thing."""
    if program == "mise" and said:
        if said[0] == "r":
            said = ["run", *said[1:]]
        elif said[:2] == ["tasks", "run"]:
            said = said[1:]
        elif said[0] not in OWN_COMMANDS["mise"]:
            said = ["run", *said[:1]]
        return tuple(said)
    if program in ("pnpm", "yarn", "composer", "turbo") and said[:1] in (["run"], ["run-script"]) and len(said) > 1:
        return tuple(said[1:])
    if program == "npm" and said[:1] == ["run-script"]:
        return ("run", *said[1:])
    if program == "go" and said == ["run"]:
        what = next((each for each in rest[1:] if not each.startswith("-")), "")
        return ("run", _AT_VERSION.sub("", what)) if what else ("run",)
    return tuple(said)


def _positional(words: Sequence[str], valued: frozenset[str]) -> list[str]:
    """The words that are neither options nor what these take; up to ``--``."""
    out: list[str] = []
    skip = False
    for word in words:
        if skip:
            skip = False
        elif word == "--":
            break
        elif word.startswith("-") and len(word) > 1:
            skip = word in valued
        elif not _ASSIGNS.match(word):
            out.append(word)
    return out


def _tasks(program: str, words: Sequence[str], valued: frozenset[str]) -> tuple[str, ...]:
    out: list[str] = []
    for word in _positional(words, valued):
        if program in ("make", "ninja") and _NUMBER.match(word):
            continue
        if not _TASK.match(word):
            break
        out.append(word)
        if program in ("just", "task", "inv", "poe", "rake"):
            break
    if program in ("gradle", "gradlew", "mvn", "mvnw", "make"):
        out = [each for each in out if each != "clean"] or out
    return tuple(out[:_MOST_WORDS])


def _session(program: str, words: Sequence[str]) -> tuple[str, ...]:
    for place, word in enumerate(words):
        if word in SESSIONS[program] and place + 1 < len(words):
            return ("-s" if program == "nox" else "-e", words[place + 1])
    return ()
