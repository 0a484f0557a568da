/**
 * The commands and the code of README and guides: commands are run in their order against a server (`commands.ts`),
 * code is compiled, also that of the packages' own READMEs.
 *
 * Every block `sh` is run unless it is marked `not-run="why"`, and then the text says "Not run by our tests: … why". A
 * block `sh in="a project of its own"` is run by `packaging/test/documentation.test.ts`, from packed packages, and one
 * `in="an empty directory"` by `packaging/test/server.test.ts`, and those of an installed server's folders by
 * `packaging/test/upgrade.test.ts`, and `in="a clone"` by `packaging/test/clone.test.ts`. What needs PostgreSQL servers of its own is run by `running/failover.test.ts`
 * (`in="a PostgreSQL cluster"`), `running/backups.test.ts` (`in="a PostgreSQL server"`),
 * `running/cluster-backups.test.ts` (`in="a PostgreSQL cluster with backups"`), `keys/embedded-master-key.test.ts`
 * (`in="a folder with an embedded database"`), `Encryption.test.ts` of the
 * package `@wac/postgres` (`in="a folder for certificates"`), its `Schema.test.ts` (`in="a database of an earlier
 * version"`), `examples/transactions` (`in="a database with orders"`), `dashboard/portal.test.ts` (`html in="a host's
 * page"`) and, in its long form alone,
 * `packaging/test/night` (`in="a PostgreSQL server with two roles"`). A block `js file=NAME` or `ts file=NAME` is a file
 * that later commands use. `ts given="…"` has declarations that the reader has. `npm run long -- documentation` runs the
 * commands word for word in clones too, on Node 20, 22 and 24.
 */
import { assert, describe, it } from "@effect/vitest"
import * as Extent from "@wac/testbed/Extent"
import * as Program from "@wac/testbed/Program"
import { Effect } from "effect"
import { execFile } from "node:child_process"
import * as fs from "node:fs/promises"
import { tmpdir } from "node:os"
import * as path from "node:path"
import { fileURLToPath } from "node:url"
import { promisify } from "node:util"
import * as commands from "../commands.ts"
import { emptyDatabase, ownPostgresWith } from "../processes.ts"

const root = fileURLToPath(new URL("../../../../", import.meta.url))

/** Inside of the repository, so that what the blocks import is found; thrown away. */
const scratch = path.join(root, "node_modules/.cache/wac-documentation")

/**
 * Commands in running text, which no reader of the page has to run: where each is tested. One that is not here fails
 * the test, as a block does that is neither run nor marked.
 */
const inline: { readonly [command: string]: string } = {
  "npm start": "packaging/test/clone.test.ts",
  "npx wac": "apps/server/test/running/wac.test.ts",
  "npx @wac/server": "packaging/test/server.test.ts",
  "npm install @electric-sql/pglite": "packaging/test/bundlers.test.ts",
  "npm install @aws-sdk/client-s3": "packaging/test/bundlers.test.ts",
  "npm install @wac/effect": "packaging/test/facade.test.ts",
  "npx -p node@24": "packaging/test/server.test.ts",
  "npm run wac": "apps/server/test/running/wac.test.ts",
  "npm run simulator": "packages/simulator/test",
  "npm run docs": "packaging/test/reference.test.ts",
  "npm run bench -- capacity": "bench/test/measurements.test.ts",
  "npm run long -- failover": "apps/server/test/running/failover.test.ts"
}

/** What pages take for granted, in words. */
const before: { readonly [document: string]: ReadonlyArray<string> } = {
  "docs/guides/rotation.md": [
    "curl -X PUT http://127.0.0.1:8080/internal/webhook -b wac.cookies -H 'Content-Type: application/json' " +
    "-H 'Sec-Fetch-Site: same-origin' -d '{\"url\":\"https://example.com/webhooks\"}'"
  ]
}

const statusOf = (key: string) =>
  `"$(command curl -s -o /dev/null -w '%{http_code}' http://127.0.0.1:8080/v1/templates -H "Authorization: Bearer ` +
  `${key}")"`

/** What must hold after a page. */
const after: { readonly [document: string]: ReadonlyArray<string> } = {
  "docs/guides/receiving.md": ["[ -n \"$WEBHOOK_SECRET\" ]"],
  // the key that was replaced is refused, and the new one is not
  "docs/guides/rotation.md": [
    `[ ${statusOf("$KEY")} = 401 ]`,
    "curl http://127.0.0.1:8080/internal/api-keys -b wac.cookies | grep 'order service, 2026-01'"
  ]
}

/** What commands that end well without it must have written. */
const says: { readonly [document: string]: ReadonlyArray<string> } = {
  "README.md": ["\"signingSecret\"", "That is the whole flow"],
  "docs/guides/quick-start.md": ["\"type\":\"message.received\"", "\"workspaceName\""],
  "docs/guides/messages.md": ["\"status\":\"read\""],
  "docs/guides/sending-later.md": [
    "\"status\":\"queued\"",
    "preference-applied: respond-async",
    "\"status\":\"cancelled\"",
    "\"reason\":\"template_not_found\""
  ],
  "docs/guides/agents.md": ["\"read_conversation\"", "\"already_sent\":false"],
  "docs/guides/receiving.md": ["\"outcome\":\"delivered\"", "\"status\":\"active\""],
  "docs/guides/campaigns.md": ["\"reason\":\"duplicate\"", "\"total\":2", "3,,,duplicate,"],
  "docs/guides/rotation.md": ["\"previousExpiresAt\"", "\"prefix\":\"wac_live_"],
  "docs/guides/operating.md": ["(default)", "the master key opens the storage's secrets", "key, shown this once"],
  "docs/guides/people.md": ["\"inviteUrl\"", "ben@example.com has a new password", "\"action\":\"member.change\""]
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
      [...rest!.matchAll(/([\w-]+)=(?:"([^"]*)"|(\S+))/g)].map(([, name, quoted, bare]) => [name, quoted ?? bare])
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

/** Commands; which of them are not run, and why, says the attribute `not-run`, and the text in the same words. */
const shell = (document: string): ReadonlyArray<Block> =>
  blocks.get(document)!.filter(({ language }) => language === "sh")

const isRun = ({ attributes }: Block): boolean => attributes["not-run"] === undefined && attributes["in"] === undefined

const pageOf = (document: string, database: string | undefined): commands.Page => ({
  name: document,
  files: Object.fromEntries(
    blocks.get(document)!.flatMap(({ attributes: { file }, code }) => file === undefined ? [] : [[file, code]])
  ),
  before: before[document] ?? [],
  commands: shell(document).filter(isRun).map(({ code }) => code),
  after: after[document] ?? [],
  database
})

/** Runs a page as a reader does; one that needs a database has one of its own. */
const readOne = (document: string, reader: commands.Reader) =>
  Effect.gen(function*() {
    const needs = shell(document).some(({ code }) =>
      /postgres:\/\/wac:secret|npm run migrate|npx wac migrate/.test(code)
    )
    // with a database's own settings, which `wac doctor` looks at
    const database = needs
      ? yield* Effect.flatMap(ownPostgresWith(), ({ url }) => emptyDatabase(url))
      : undefined
    const output = yield* Effect.promise((signal) => commands.run(reader, pageOf(document, database), signal))
    for (const words of says[document] ?? []) assert.include(output, words, document)
  })

/** The pages that have commands. */
const pages = () => documents.filter((document) => shell(document).some(isRun))

/** Has npm bring a Node; resolves to the folder of its program. */
const nodeOf = async (version: string): Promise<string> => {
  const project = path.join(scratch, `node-${version}`)
  await fs.mkdir(project, { recursive: true })
  await fs.writeFile(path.join(project, "package.json"), "{\"private\":true}")
  await promisify(execFile)(
    "npm",
    ["install", "--prefer-offline", "--no-audit", "--no-fund", `node@${version}`, "--foreground-scripts"],
    { cwd: project }
  )
  return path.join(project, "node_modules/node/bin")
}

/** A copy of the repository as somebody clones it. */
const clone = async (to: string): Promise<void> => {
  await fs.mkdir(to, { recursive: true })
  await promisify(execFile)("bash", ["-c", `git ls-files -z | tar --null -T - -cf - | tar -xf - -C "${to}"`], {
    cwd: root
  })
}

/** What one page leaves behind for the next one. */
const leftovers = [".data", "wac.cookies", "webhook.json", "receiver.mjs", "server.log"]

/** What the commands of the pages run besides Node and npm. */
const programs = ["curl", "grep", "sed", ["openssl", "version"]] as const
const untested = "the commands of the guides"
const install = "apt-get install curl openssl"
const needed = Program.needed({ programs, untested, install })
const neededInClone = Program.needed({ programs: [...programs, "git", "tar"], untested, install: `${install} git` })

/** The Nodes on which a clone runs. All of them take an hour; the present one is run from the sources. */
const clones = Extent.of<ReadonlyArray<string>>([], ["20", "22", "24"])

describe("the documentation", () => {
  it.live("the commands of each page work in their order on a fresh server", () =>
    Effect.gen(function*() {
      yield* Effect.promise(() => fs.rm(scratch, { recursive: true, force: true }))
      const node = path.dirname(process.execPath)
      yield* Effect.forEach(pages(), (document) => {
        const directory = path.join(scratch, document.replaceAll(/\W+/g, "-"))
        return readOne(document, { directory, node, isClone: false })
      }, { concurrency: 2, discard: true })
    }).pipe(Effect.scoped), needed)

  for (const version of clones) {
    it.live(
      `the commands work word for word in a clone on Node ${version}`,
      () =>
        Effect.gen(function*() {
          const node = yield* Effect.promise(() => nodeOf(version))
          const directory = yield* Effect.acquireRelease(
            Effect.promise(() => fs.mkdtemp(path.join(tmpdir(), `wac-clone-${version}-`))),
            (directory) => Effect.promise(() => fs.rm(directory, { recursive: true, force: true }))
          )
          yield* Effect.promise(() => clone(directory))
          for (const document of pages()) {
            yield* Effect.promise(() =>
              Promise.all(
                leftovers.map((name) => fs.rm(path.join(directory, name), { recursive: true, force: true }))
              )
            )
            yield* readOne(document, { directory, node, isClone: true })
          }
        }).pipe(Effect.scoped),
      { ...neededInClone, timeout: 3_600_000 }
    )
  }

  it("the code of each page compiles", async () => {
    const directory = path.join(scratch, "ts")
    await fs.rm(directory, { recursive: true, force: true })
    await fs.mkdir(directory, { recursive: true })
    for (const [document, all] of blocks) {
      for (const [index, { attributes, code, language }] of all.entries()) {
        if (language !== "ts") continue
        if (attributes["file"] !== undefined) {
          const file = path.join(directory, path.basename(document, ".md"), attributes["file"])
          await fs.mkdir(path.dirname(file), { recursive: true })
          await fs.writeFile(file, code)
          continue
        }
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
        compilerOptions: {
          noUnusedLocals: false,
          noUnusedParameters: false,
          noImplicitReturns: false,
          // as Nest has it
          experimentalDecorators: true,
          erasableSyntaxOnly: false,
          incremental: false,
          tsBuildInfoFile: null,
          // as Next has it, whose files name each other without an extension; Nest's are compiled as modules of Node's too
          module: "esnext",
          moduleResolution: "bundler"
        },
        include: [path.join(directory, "**/*.ts")]
      })
    )
    const tsc = path.join(root, "node_modules/.bin/tsc")
    await promisify(execFile)(process.execPath, [tsc, "-p", directory]).catch((error: { readonly stdout: string }) =>
      assert.fail(error.stdout)
    )
  })

  it("every link has a target", async () => {
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

  it("each section of a guide that speaks of restoring says that the servers have to be told", async () => {
    const untold: Array<string> = []
    for (const document of documents) {
      for (const section of (await fs.readFile(path.join(root, document), "utf8")).split(/^(?=## )/m)) {
        if (!/\brestor/i.test(section) || section.includes("WAC_RESTORED")) continue
        untold.push(`${document}: ${section.split("\n", 1)[0]}`)
      }
    }
    assert.deepStrictEqual(untold, [])
  })

  it("each command that is not run states the reason, and no command has a different form", async () => {
    for (const document of documents) {
      const text = await fs.readFile(path.join(root, document), "utf8")
      const prose = text.replaceAll(/^```.*?^```$/gms, "")
      const plain = prose.replaceAll("`", "")
      for (
        const { attributes, code } of shell(document).filter(({ attributes }) => attributes["not-run"] !== undefined)
      ) {
        const reason = attributes["not-run"]!
        assert.isAbove(reason.length, 0, `${document}: ${code}`)
        assert.match(
          plain,
          new RegExp(`Not run by our tests[^\n]*${reason.replaceAll(/\W/g, "\\$&")}`),
          `${document}: ${code}`
        )
      }
      const others = blocks.get(document)!.filter(({ attributes, language }) =>
        language !== "sh" && language !== "ts" && attributes["file"] === undefined && attributes["in"] === undefined
      )
      assert.deepStrictEqual(others, [], document)
      // an unnamed language, or an indented block, would be read and not be run
      assert.strictEqual(text.match(/^```/gm)?.length ?? 0, 2 * blocks.get(document)!.length, document)
      assert.notMatch(prose, /^(?: {4}|\t)\S/m, document)
      const named = [...prose.matchAll(/`((?:npm|npx|node|curl|openssl|export|pg_dump|git|docker) [^`]+)`/g)]
        .map(([, command]) => command!)
        .filter((command) =>
          !shell(document).some(({ code }) => code.includes(command)) &&
          !Object.keys(inline).some((known) => command.startsWith(known))
        )
      assert.deepStrictEqual(named, [], document)
    }
    for (const place of Object.values(inline)) await fs.access(path.join(root, place))
  })
})
