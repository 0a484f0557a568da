/**
 * A reader of the documentation: runs the commands of a page in their order, in a shell, on a fresh server.
 *
 * Only what no two readers share is replaced: ports, and the address of the database. `npm start` runs in the
 * background, as in another terminal, and the three commands that it shows are pasted if there is no owner yet.
 */
import * as FreePort from "@wac/testbed/FreePort"
import { spawn } from "node:child_process"
import * as fs from "node:fs/promises"
import * as path from "node:path"
import * as programs from "./programs.ts"

/** Where a reader is, and with which Node. */
export interface Reader {
  /** The folder in which the page's commands run. */
  readonly directory: string
  /** The folder with the `node` that is first on the `PATH`. */
  readonly node: string
  /** Whether npm is the real one, as in a clone; otherwise what its scripts run are the bundled programs. */
  readonly isClone: boolean
}

/** A page's commands. */
export interface Page {
  readonly name: string
  /** Files that the page has the reader write, by name. */
  readonly files: Readonly<Record<string, string>>
  /** What the page takes for granted. */
  readonly before: ReadonlyArray<string>
  readonly commands: ReadonlyArray<string>
  /** What must hold then: commands that succeed. */
  readonly after: ReadonlyArray<string>
  /** Stands for `postgres://wac:secret@127.0.0.1/wac`. */
  readonly database: string | undefined
}

const npmOfPrograms = `
demo() { command node "$PROGRAMS/demo.js"; }
serve() { LOG_FORMAT=$LOG command node "$PROGRAMS/wac.js" start; }
node() { command node --conditions=source "$@"; }
npm() {
  case "$*" in
    ci | "run build") ;;
    start) start ;;
    "run demo") show demo 'That is the whole flow' ;;
    "run migrate") npx wac migrate ;;
    *) echo "npm $* is not known here" >&2; return 1 ;;
  esac
}
npx() {
  case "$*" in
    "wac start") start ;;
    "wac "*) shift; command node "$PROGRAMS/wac.js" "$@" ;;
    *) echo "npx $* is not known here" >&2; return 1 ;;
  esac
}
`

/** Everything is npm's own, but that what stays in the foreground is sent to the background. */
const npmOfClone = `
demo() { command npm run demo; }
serve() { LOG_FORMAT=$LOG command npm start; }
npm() {
  case "$*" in
    ci) [ "$(cat node_modules/.installed-by 2>/dev/null)" = "$(node --version)" ] ||
      { command npm ci --no-audit --no-fund && node --version >node_modules/.installed-by; } ;;
    start) start ;;
    "run demo") show demo 'That is the whole flow' ;;
    *) command npm "$@" ;;
  esac
}
# a clone has the command as a script
npx() {
  case "$*" in
    "wac start") start ;;
    "wac "*) shift; command npm run --silent wac -- "$@" ;;
    *) command npx "$@" ;;
  esac
}
`

const prelude = (isClone: boolean) => `
set -euo pipefail
curl() { command curl --silent --show-error --fail-with-body "$@"; }
${isClone ? npmOfClone : npmOfPrograms}
# Ends a program that was started with what it started.
end() {
  kill -- "-$1" 2>/dev/null || true
  wait "$1" 2>/dev/null || true
  # npm ends before what it has started
  while kill -0 -- "-$1" 2>/dev/null; do sleep 0.1; done
}
server=
stop() {
  [ -n "$server" ] || return 0
  end "$server"; server=
  while command curl --silent --output /dev/null "http://127.0.0.1:$PORT/healthz"; do sleep 0.1; done
}
trap stop EXIT
listening() { command curl --silent --output /dev/null --retry 600 --retry-delay 1 --retry-connrefused "$1"; }
# Runs a program until it has written something.
show() {
  set -m; PORT=0 "$1" >shown.log 2>&1 & set +m
  local shown=$!
  until grep -q "$2" shown.log; do kill -0 "$shown"; sleep 0.2; done
  cat shown.log; end "$shown"
}
start() {
  stop
  # a reader has a terminal, on which the server shows what to do next
  LOG=\${LOG_FORMAT-pretty}
  set -m; serve >server.log 2>&1 & set +m
  server=$!
  until command curl --silent --fail --output /dev/null "http://127.0.0.1:$PORT/readyz"; do
    kill -0 "$server" || { cat server.log >&2; return 1; }
    sleep 0.1
  done
  if [ ! -f wac.cookies ]; then
    # the server says more than it is ready for a moment later
    until grep -q '^# 3' server.log; do kill -0 "$server"; sleep 0.1; done
    sed -n '/^# 1/,/^# 2/p' server.log >first.sh
    sed -n '/^# 2/,/^# 3/p' server.log >second.sh
    sed -n '/^# 3/,/^$/p' server.log >third.sh
    . ./first.sh; . ./second.sh; . ./third.sh
    export KEY
    export OWNER_PASSWORD=$(sed -n 's/.*"password":"\\([^"]*\\)".*/\\1/p' first.sh)
  fi
}
`

/**
 * What npm needs of this machine to install (certificates, a proxy, its cache), less what steers tests and the service.
 */
const machine = (): NodeJS.ProcessEnv =>
  Object.fromEntries(
    Object.entries(process.env).filter(([name]) =>
      !/^(?:NODE_OPTIONS|NODE_ENV|EXTENT|VITEST.*|TEST|DATABASE_.*|WAC_.*|npm_(?!config_).*)$/.test(name)
    )
  )

/** Runs a page's commands; resolves to what they wrote, and rejects with the end of it if one fails. */
export const run = async ({ directory, isClone, node }: Reader, page: Page, signal: AbortSignal) => {
  await fs.mkdir(directory, { recursive: true })
  const [port, receiver] = [await FreePort.find(), await FreePort.find()]
  const here = (text: string) =>
    // in one go, because a port that was found may begin with the digits of the other
    text.replaceAll(/127\.0\.0\.1:(8080|3000)\b/g, (_, given) => `127.0.0.1:${given === "8080" ? port : receiver}`)
      .replaceAll("listen(3000)", `listen(${receiver})`)
      .replaceAll("postgres://wac:secret@127.0.0.1/wac", page.database ?? "")
  for (const [name, text] of Object.entries(page.files)) await fs.writeFile(path.join(directory, name), here(text))
  const all = [...page.before, ...page.commands].map((command) => command.trim()).join("\n")
  // a page that begins with the start of the server shows how
  const startsItself = /^(?:(?:export|\[ -s|npm run|npx wac migrate).*\n)*.*(?:npm start|npx wac start)/.test(all)
  const needsServer = /127\.0\.0\.1:8080|npx wac (?!migrate|start)/.test(all)
  const commands = [
    ...(needsServer && !startsItself ? ["npm start"] : []),
    ...page.before,
    // a reader goes on when what was sent to the background listens
    ...page.commands.flatMap((command) =>
      command.endsWith("&\n") ? [command, `listening http://127.0.0.1:${receiver}/`] : [command]
    ),
    ...page.after
  ]
  const script = [prelude(isClone), ...commands.flatMap((command) => ["set -x", here(command)])].join("\n")
  await fs.writeFile(path.join(directory, "run.sh"), script)
  const shell = spawn("bash", ["run.sh"], {
    cwd: directory,
    env: {
      ...(isClone ? machine() : { HOME: directory }),
      PATH: `${node}:${process.env["PATH"]}`,
      ...(isClone ? {} : { PROGRAMS: await programs.folder() }),
      PORT: String(port),
      // the default, PostgreSQL in the process, takes seconds to begin with
      ...(isClone ? {} : { DATABASE_URL: page.database ?? "memory:" }),
      LOG_LEVEL: "info",
      TOKEN: "an-access-token",
      NEW_PASSWORD: "correct horse battery"
    },
    stdio: ["ignore", "pipe", "pipe"],
    detached: true
  })
  const written: Array<string> = []
  for (const stream of [shell.stdout, shell.stderr]) stream.setEncoding("utf8").on("data", (text) => written.push(text))
  /**
   * Ends what the reader's commands have in the background too; the server, in a group of its own, is the shell's to
   * end.
   */
  const end = (by: "SIGTERM" | "SIGKILL") => () => {
    try {
      process.kill(-shell.pid!, by)
    } catch {
      // nothing is left
    }
  }
  // another page has failed
  const abort = end("SIGTERM")
  signal.addEventListener("abort", abort)
  const code = await new Promise((resolve) => shell.on("exit", resolve))
  signal.removeEventListener("abort", abort)
  end("SIGKILL")()
  const output = written.join("")
  if (code === 0) return output
  const log = await fs.readFile(path.join(directory, "server.log"), "utf8").catch(() => "")
  throw new Error(`${page.name} (${node})\n${output.slice(-4000)}\n${log.slice(-2000)}`)
}
