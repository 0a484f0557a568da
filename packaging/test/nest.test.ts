/**
 * The guide on Nest: its files, compiled as a Nest project compiles them, are an application that sends, serves the API
 * and receives.
 */
import { execFile, spawn } from "node:child_process"
import { once } from "node:events"
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { promisify } from "node:util"
import { assert, it, onTestFinished } from "vitest"
import { root } from "../Published.ts"
import * as GuideApplication from "./GuideApplication.ts"

const guide = readFileSync(join(root, "docs/guides/nest.md"), "utf8")

/** The option that the guide leaves to another one: who is signed in. */
const signedIn = `{ session: () => ({ userId: "42", email: "ana@shop.example", role: "owner" }) }`

/** Writes and starts the application. Resolves to its address once it listens. */
const start = async () => {
  const cache = join(root, "node_modules/.cache")
  mkdirSync(cache, { recursive: true })
  // in the repository, where its packages and those of Nest are found
  const project = mkdtempSync(join(cache, "nest-"))
  onTestFinished(() => rmSync(project, { recursive: true }))
  writeFileSync(join(project, "package.json"), JSON.stringify({ type: "module" }))
  writeFileSync(
    join(project, "tsconfig.json"),
    JSON.stringify({
      compilerOptions: {
        module: "nodenext",
        target: "es2023",
        strict: true,
        experimentalDecorators: true,
        emitDecoratorMetadata: true,
        skipLibCheck: true,
        types: ["node"]
      }
    })
  )
  for (const [, name, text] of guide.matchAll(/^```ts file=(\S+)\n([^]*?)^```$/gm)) {
    writeFileSync(join(project, name!), text!.replace("createWac({", `createWac({ auth: ${signedIn},`))
  }
  const tsc = join(root, "node_modules/typescript/bin/tsc")
  const { stdout } = await promisify(execFile)(process.execPath, [tsc, "-p", project])
    .catch((error: { readonly stdout: string }) => error)
  assert.strictEqual(stdout, "")
  const child = spawn(process.execPath, ["main.js"], {
    cwd: project,
    env: { PORT: "0", WEBHOOK_SECRET: GuideApplication.secret, NO_COLOR: "1" },
    stdio: ["ignore", "pipe", "pipe"]
  })
  onTestFinished(() => void child.kill("SIGKILL"))
  const exited = once(child, "exit")
  let output = ""
  let wake = () => {}
  for (const stream of [child.stdout, child.stderr]) {
    stream.on("data", (chunk: Buffer) => {
      output += chunk.toString()
      wake()
    })
  }
  const written = (expected: RegExp) =>
    new Promise<string>((resolve, reject) => {
      wake = () => {
        const found = expected.exec(output)
        if (found !== null) resolve(found[0])
      }
      wake()
      void exited.then(() => reject(new Error(output)))
    })
  return { url: await written(/(?<=listening on )http:\S+/), written, child, exited }
}

it("the guide's application sends once per order, serves the API, receives webhooks and stops when asked", async () => {
  const { child, exited, url, written } = await start()
  await GuideApplication.use((path, init) => fetch(url + path, init))
  await written(/received message\.delivered/)

  // a dashboard that is open in a browser
  const stream = await fetch(`${url}/messaging/internal/stream`, { headers: { "sec-fetch-site": "same-origin" } })
  assert.strictEqual(stream.status, 200)

  child.kill("SIGTERM")
  const [code, signal] = await exited
  // Nest ends its process by the signal that it got, after its hooks
  assert.isTrue(code === 0 || signal === "SIGTERM", `${code} ${signal}`)
  // the stream was ended, not cut off
  await stream.text()
})
