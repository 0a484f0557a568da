/**
 * The commands and the code of README and guides: blocks of a shell are run in their order against a server, blocks of
 * TypeScript are compiled, those of the packages' own README too. What cannot be run is on a list, with the reason.
 *
 * A block `js file=NAME` is a file that later commands use. `ts given="…"` has declarations that the reader has.
 */
import { assert, describe, it } from "@effect/vitest"
import * as FreePort from "@wac/testkit/FreePort"
import { Effect } from "effect"
import { execFile, spawn } from "node:child_process"
import * as fs from "node:fs/promises"
import * as path from "node:path"
import { fileURLToPath } from "node:url"
import { promisify } from "node:util"
import { freshDatabase, postgres } from "./processes.ts"

const root = fileURLToPath(new URL("../../../", import.meta.url))

/** Inside of the repository, so that what the blocks import is found; thrown away. */
const scratch = path.join(root, "node_modules/.cache/wac-documentation")

/** Blocks that are not run, by how they begin, and why. */
const notRun: { readonly [document: string]: ReadonlyArray<readonly [begins: string, because: string]> } = {
  "README.md": [
    ["npm run demo", "process.test.ts runs it"],
    ["npm install wac", "packaging's tests install the packed packages"]
  ],
  "docs/guides/embedding.md": [["npm install wac", "packaging's tests install the packed packages"]],
  "docs/guides/rotation.md": [["echo \"$NEW_TOKEN\"", "numbers.test.ts runs it; it needs a server of PostgreSQL"]],
  "docs/guides/operating.md": [
    ["pg_dump", "the install brings PostgreSQL without its tools"],
    ["echo \"$NEW_PASSWORD\"", "members.test.ts runs it"]
  ],
  "docs/guides/upgrade.md": [["npm ci && npm run migrate", "operating.md runs it; migrate.test.ts tests it"]],
  "docs/guides/whatsapp.md": [
    ["curl -X POST \"https://graph.facebook.com/v25.0/$WHATSAPP_PHONE_NUMBER_ID/register\"", "Meta answers it"],
    ["export PROVIDER=whatsapp", "the values are Meta's; config.test.ts and whatsapp.test.ts take such"],
    ["curl -X POST \"https://graph.facebook.com/v25.0/$WHATSAPP_BUSINESS_ACCOUNT_ID", "Meta answers it"],
    ["curl https://wac.example.com/v1/messages", "it reaches a telephone"]
  ]
}

/** What commands that end well without it must have said. */
const says: { readonly [document: string]: ReadonlyArray<string> } = {
  "docs/guides/quick-start.md": ["\"type\":\"message.received\""],
  "docs/guides/receiving.md": ["\"outcome\":\"delivered\"", "\"status\":\"active\""],
  "docs/guides/rotation.md": ["\"previousExpiresAt\""],
  "docs/guides/operating.md": ["(default)"]
}

interface Block {
  readonly language: string
  readonly attributes: { readonly [name: string]: string }
  readonly code: string
}

const blocksOf = (text: string): ReadonlyArray<Block> =>
  [...text.matchAll(/^```(\w+)([^\n]*)\n(.*?)^```$/gms)].map(([, language, rest, code]) => ({
    language: language!,
    attributes: Object.fromEntries(
      [...rest!.matchAll(/(\w+)=(?:"([^"]*)"|(\S+))/g)].map(([, name, quoted, bare]) => [name, quoted ?? bare])
    ),
    code: code!
  }))

const documents = [
  "README.md",
  ...(await fs.readdir(path.join(root, "docs/guides"))).map((name) => `docs/guides/${name}`)
]

const readmes = (await fs.readdir(path.join(root, "packages"))).map((name) => `packages/${name}/README.md`)

const blocks = new Map(
  await Promise.all(
    [...documents, ...readmes].map(async (name) =>
      [name, blocksOf(await fs.readFile(path.join(root, name), "utf8"))] as const
    )
  )
)

const isRun = (document: string, { code }: Block): boolean =>
  !(notRun[document] ?? []).some(([begins]) => code.startsWith(begins))

/**
 * What the commands of a reader mean here. `npm start` runs in the background, as in another terminal, and the three
 * commands that it shows are pasted when there is no owner yet; `curl` fails on an error of HTTP.
 */
const prelude = `
set -euo pipefail
shopt -s expand_aliases
node() { command node --conditions=source "$@"; }
curl() { command curl --silent --show-error --fail-with-body "$@"; }
server=
stop() {
  if [ -n "$server" ]; then kill "$server"; wait "$server" || true; server=; fi
}
trap stop EXIT
listening() { command curl --silent --output ready.txt --retry 60 --retry-delay 1 --retry-connrefused "$1"; }
start() {
  stop
  command node --conditions=source "$ROOT/apps/server/src/main.ts" >server.log 2>&1 &
  server=$!
  listening "http://127.0.0.1:$PORT/readyz"
  if [ ! -f wac.cookies ]; then
    # the server says more than it is ready for a moment later
    until grep -q '^# 3' server.log; do kill -0 "$server"; sleep 0.1; done
    sed -n '/^# 1/,/^# 2/p' server.log >first.sh
    sed -n '/^# 2/,/^# 3/p' server.log >second.sh
    sed -n '/^# 3/,/^$/p' server.log >third.sh
    . ./first.sh; . ./second.sh; . ./third.sh
    export KEY
  fi
}
npm() {
  case "$1 \${2:-}" in
    "ci "*) ;;
    "start "*) start ;;
    "run migrate") command node --conditions=source "$ROOT/apps/server/src/migrate.ts" ;;
    "run members") shift 3; command node --conditions=source "$ROOT/apps/server/src/members.ts" "$@" ;;
    "run numbers") shift 3; command node --conditions=source "$ROOT/apps/server/src/numbers.ts" "$@" ;;
    *) echo "npm $* is not known here" >&2; return 1 ;;
  esac
}
`

/** Runs a document's commands; the end of what they said, if one failed. */
const run = async (document: string, database: string | undefined, signal: AbortSignal): Promise<void> => {
  const directory = path.join(scratch, document.replaceAll(/\W+/g, "-"))
  await fs.mkdir(directory, { recursive: true })
  const [port, receiver] = [await FreePort.find(), await FreePort.find()]
  const here = (text: string) =>
    text.replaceAll("127.0.0.1:8080", `127.0.0.1:${port}`)
      .replaceAll("127.0.0.1:3000", `127.0.0.1:${receiver}`).replaceAll("listen(3000)", `listen(${receiver})`)
      .replaceAll("postgres://wac:secret@127.0.0.1/wac", database ?? "")
  const commands: Array<string> = []
  for (const block of blocks.get(document)!) {
    const { file } = block.attributes
    if (file !== undefined) await fs.writeFile(path.join(directory, file), here(block.code))
    if (block.language !== "sh" || !isRun(document, block)) continue
    commands.push(here(block.code))
    // a reader goes on when it listens
    if (block.code.endsWith("&\n")) commands.push(`listening http://127.0.0.1:${receiver}/`)
  }
  const starts = commands[0]!.includes("npm start")
  const script = [prelude, ...(starts ? [] : ["npm start"]), ...commands.flatMap((command) => ["set -x", command])]
  await fs.writeFile(path.join(directory, "run.sh"), script.join("\n"))
  const shell = spawn("bash", ["run.sh"], {
    cwd: directory,
    env: {
      PATH: `${path.dirname(process.execPath)}:${process.env["PATH"]}`,
      ROOT: root.replace(/\/$/, ""),
      PORT: String(port),
      // the default, PostgreSQL in the process, takes seconds to begin with
      DATABASE_URL: "memory:",
      LOG_LEVEL: "info",
      TOKEN: "an-access-token",
      HOME: directory
    },
    stdio: ["ignore", "pipe", "pipe"],
    detached: true
  })
  const said: Array<string> = []
  for (const stream of [shell.stdout, shell.stderr]) stream.setEncoding("utf8").on("data", (text) => said.push(text))
  /** Ends what the reader's commands have in the background too. */
  const end = () => {
    try {
      process.kill(-shell.pid!, "SIGKILL")
    } catch {
      // nothing is left
    }
  }
  // another document has failed
  signal.addEventListener("abort", end)
  const code = await new Promise((resolve) => shell.on("exit", resolve))
  signal.removeEventListener("abort", end)
  end()
  const log = await fs.readFile(path.join(directory, "server.log"), "utf8").catch(() => "")
  const told = `${document}\n${said.join("").slice(-4000)}\n${log.slice(-2000)}`
  assert.strictEqual(code, 0, told)
  for (const words of says[document] ?? []) assert.include(said.join(""), words, told)
}

describe("the documentation", () => {
  it.live("has commands that work", () =>
    Effect.gen(function*() {
      yield* Effect.promise(() => fs.rm(scratch, { recursive: true, force: true }))
      const needing = (document: string) =>
        blocks.get(document)!.some(({ code }) => code.includes("postgres://wac:secret@127.0.0.1/wac"))
      yield* Effect.forEach(
        documents.filter((document) =>
          blocks.get(document)!.some((block) => block.language === "sh" && isRun(document, block))
        ),
        (document) =>
          Effect.gen(function*() {
            const database = needing(document) ? yield* Effect.flatMap(postgres, freshDatabase) : undefined
            yield* Effect.promise((signal) => run(document, database, signal))
          }),
        { concurrency: 2, discard: true }
      )
    }).pipe(Effect.scoped))

  it("has code that compiles", async () => {
    const directory = path.join(scratch, "ts")
    await fs.rm(directory, { recursive: true, force: true })
    await fs.mkdir(directory, { recursive: true })
    for (const [document, all] of blocks) {
      for (const [index, { attributes, code, language }] of all.entries()) {
        if (language !== "ts") continue
        const lines = code.split("\n")
        const imports = lines.filter((line) => /^import .* from /.test(line))
        const rest = lines.filter((line) => !imports.includes(line))
        // in a function, as code of a reader's is: it may return; what exports is a module
        const body = rest.some((line) => line.startsWith("export "))
          ? rest
          : ["export const example = async () => {", ...rest, "}"]
        await fs.writeFile(
          path.join(directory, `${document.replaceAll(/\W+/g, "-")}-${index}.ts`),
          [attributes["given"] ?? "", ...imports, ...body].join("\n")
        )
      }
    }
    await fs.writeFile(
      path.join(directory, "tsconfig.json"),
      JSON.stringify({
        extends: path.join(root, "tsconfig.test.json"),
        compilerOptions: { noUnusedLocals: false, noUnusedParameters: false, noImplicitReturns: false },
        include: [path.join(directory, "*.ts")]
      })
    )
    const tsc = path.join(root, "node_modules/.bin/tsc")
    await promisify(execFile)(process.execPath, [tsc, "-p", directory]).catch((error: { readonly stdout: string }) =>
      assert.fail(error.stdout)
    )
  })

  it("has links that lead somewhere", async () => {
    const slugs = (text: string) =>
      [...text.matchAll(/^#+ (.*)$/gm)].map(([, title]) =>
        title!.toLowerCase().replaceAll(/[^\w\- ]/g, "").replaceAll(" ", "-")
      )
    const all = await Array.fromAsync(fs.glob("**/*.md", { cwd: root, exclude: ["**/node_modules", "**/dist"] }))
    assert.includeMembers(all, [...documents, ...readmes])
    for (const document of all) {
      const text = await fs.readFile(path.join(root, document), "utf8")
      for (const [, link] of text.matchAll(/\]\((?!https?:)([^)]+)\)/g)) {
        const [target, anchor] = link!.split("#")
        const file = target === "" ? path.join(root, document) : path.join(root, path.dirname(document), target!)
        const isThere = await fs.access(file).then(() => true, () => false)
        assert.isTrue(isThere, `${document}: ${link}`)
        if (anchor !== undefined) assert.include(slugs(await fs.readFile(file, "utf8")), anchor, `${document}: ${link}`)
      }
    }
  })

  it("leaves out what its list says, and nothing else", () => {
    for (const [document, left] of Object.entries(notRun)) {
      for (const [begins] of left) {
        const found = blocks.get(document)!.filter((block) => block.language === "sh" && block.code.startsWith(begins))
        assert.strictEqual(found.length, 1, `${document}: ${begins}`)
      }
    }
    const languages = documents.flatMap((document) =>
      blocks.get(document)!.map(({ attributes, language }) =>
        language === "sh" || language === "ts" || attributes["file"] !== undefined
          ? undefined
          : `${document}: ${language}`
      )
    )
    assert.deepStrictEqual(languages.filter((one) => one !== undefined), [])
  })
})
