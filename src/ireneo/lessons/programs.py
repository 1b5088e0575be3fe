"""What is known of programs: which start others, which have subcommands, and which options take a value."""

from __future__ import annotations

from collections.abc import Mapping

from msgspec import Struct

from ireneo.patterns import lazy_re


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
