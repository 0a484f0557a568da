/**
 * What README and guides have an embedder and a receiver write, as it runs from the packages as they are published. The
 * commands, which need a clone, are run by `apps/server/test/documentation.test.ts`.
 *
 * `npm run long -- documentation` runs it on Node 22.19 too, the oldest that `wac` takes.
 */
import * as Extent from "@wac/testbed/Extent"
import * as FreePort from "@wac/testbed/FreePort"
import { execFile, spawn } from "node:child_process"
import { createHmac } from "node:crypto"
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { promisify } from "node:util"
import { afterAll, assert, beforeAll, describe, inject, it, onTestFinished } from "vitest"
import { root } from "../Published.ts"
import { installDeclared } from "./Packages.ts"

const run = promisify(execFile)

let project: string
beforeAll(() => {
  project = mkdtempSync(join(tmpdir(), "wac-documented-"))
  const dependencies = { wac: "*", "@wac/verifier": "*", express: "*" }
  writeFileSync(join(project, "package.json"), JSON.stringify({ type: "module", dependencies }))
  installDeclared(inject("packed"), project)
})
afterAll(() => rmSync(project, { recursive: true }))

/** Blocks of a page, by their language. */
const blocksOf = (document: string) =>
  [...readFileSync(join(root, document), "utf8").matchAll(/^```(\w+)([^\n]*)\n(.*?)^```$/gms)]
    .map(([, language, attributes, code]) => ({ language, attributes: attributes!, code: code! }))

/** Whole programs of an embedder: they need nothing that the reader has, and no database. */
const programs = ["README.md", "docs/guides/embedding.md"].flatMap((document) =>
  blocksOf(document)
    .filter(({ attributes, code, language }) =>
      language === "ts" && attributes === "" && code.includes("createWac") && !code.includes("process.env")
    )
    .map(({ code }, index) => [`${document} ${index + 1}`, code] as const)
)

/** The options of Node that the embedding guide names for a process under load. */
const options = /`(--[^`]+)` of Node/.exec(readFileSync(join(root, "docs/guides/embedding.md"), "utf8"))![1]!.split(" ")

const receiver =
  blocksOf("docs/guides/receiving.md").find(({ attributes }) => attributes.includes("receiver.mjs"))!.code

/** Versions of Node, each by its program. */
const versions = Extent.of<ReadonlyArray<string | undefined>>([undefined], [undefined, "22.19.0"])

/** The program of a version, which npm brings; without one, the present Node. */
const nodeOf = async (version: string | undefined): Promise<string> => {
  if (version === undefined) return process.execPath
  const folder = mkdtempSync(join(tmpdir(), "wac-node-"))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  writeFileSync(join(folder, "package.json"), "{\"private\":true}")
  const args = ["install", "--prefer-offline", "--no-audit", "--no-fund", "--foreground-scripts", `node@${version}`]
  await run("npm", args, { cwd: folder })
  return join(folder, "node_modules/node/bin/node")
}

/** Commands for a project of the reader's own. */
const commands = ["README.md", "docs/guides/embedding.md"].flatMap((document) =>
  blocksOf(document).filter(({ attributes }) => attributes.includes("in=\"a project of its own\"")).map(({ code }) =>
    code
  )
)

it("what the pages have a project install is what these tests install, packed", () => {
  assert.deepStrictEqual(new Set(commands), new Set(["npm install wac\n"]))
})

describe.each(versions.map((version) => [version ?? process.versions.node, version] as const))(
  "from packed packages on Node %s",
  (_, version) => {
    it("the programs of README and of the embedding guide run with the options that the guide names", async () => {
      const node = await nodeOf(version)
      assert.isAtLeast(programs.length, 2)
      for (const [name, code] of programs) {
        const file = join(project, `${name.replaceAll(/\W/g, "-")}.ts`)
        writeFileSync(file, `${code}\nawait wac.close()\n`)
        const { stdout } = await run(node, [...options, file], { cwd: project }).catch((
          error: { readonly stderr: string }
        ) => assert.fail(`${name}: ${error.stderr}`))
        assert.notInclude(stdout, "Error", name)
      }
    })

    it("the receiver of the receiving guide takes a signed event once, and refuses a changed one", async () => {
      const node = await nodeOf(version)
      const port = await FreePort.find()
      const file = join(project, "receiver.mjs")
      writeFileSync(file, receiver.replace("listen(3000)", `listen(${port}, () => console.log("listening"))`))
      const child = spawn(node, [file], { cwd: project, env: { WEBHOOK_SECRET: "whsec_of_the_test" } })
      onTestFinished(() => void child.kill("SIGKILL"))
      let output = ""
      await new Promise<void>((resolve, reject) => {
        child.stderr.on("data", (text) => output += text)
        child.stdout.on("data", (text) => (output += text).includes("listening") && resolve())
        child.on("exit", () => reject(new Error(output)))
      })
      const body = JSON.stringify({
        id: "evt_1",
        object: "event",
        type: "message.newer",
        created_at: "2026-01-02T03:04:05.678Z",
        tenant_id: "ws_1",
        data: { n: 1 }
      })
      const at = Math.floor(Date.now() / 1000)
      const v1 = createHmac("sha256", "whsec_of_the_test").update(`${at}.${body}`).digest("hex")
      const post = (sent: string) =>
        fetch(`http://127.0.0.1:${port}/webhook`, {
          method: "POST",
          headers: { "content-type": "application/json", "x-service-signature": `t=${at},v1=${v1}` },
          body: sent
        })
      assert.deepStrictEqual([(await post(body)).status, (await post(body)).status, (await post(`${body} `)).status], [
        200,
        200,
        400
      ])
      assert.strictEqual(output.match(/message\.newer/g)?.length, 1)
    })
  }
)
