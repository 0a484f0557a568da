/**
 * The package that is the server, as an operator uses it: installed from packed files in an empty directory by a user
 * who is not root, started by `npx`, and asked for a message whose event a receiver verifies. Nothing of this
 * repository, no compiler and no registry takes part: the user's `PATH` leads to no other program than Node, npm and a
 * shell.
 */
import { SIGNATURE_HEADER, verify } from "@wac/verifier"
import { type ChildProcess, execFile, spawn } from "node:child_process"
import { once } from "node:events"
import {
  chmodSync,
  chownSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  statSync,
  symlinkSync
} from "node:fs"
import { createServer } from "node:http"
import type { AddressInfo } from "node:net"
import { tmpdir } from "node:os"
import { basename, delimiter, join } from "node:path"
import { promisify } from "node:util"

/** What a trial found. Times are in milliseconds. */
export interface Found {
  /** The user's id; never 0. */
  readonly uid: number
  readonly installedPackages: number
  readonly installedBytes: number
  readonly installing: number
  /** From the command to the first response; the second start has V8's compiled code. */
  readonly firstReady: number
  readonly secondReady: number
  /** From the command to the verified event, in an empty storage. */
  readonly verified: number
  /** The resident memory of the second server, in bytes; `undefined` where the system does not tell. */
  readonly idleBytes: number | undefined
}

/** The user that runs what root would otherwise run: `nobody`. */
const nobody = 65_534

const isRoot = process.getuid?.() === 0

const as = isRoot ? { uid: nobody, gid: nobody } : {}

/** The programs that a machine needs beside Node. No compiler is among them. */
const programs = ["npm", "npx", "sh"]

/** An empty directory of the user's, with a Node that the user may run, and no other program but {@link programs}. */
const prepare = (): { readonly directory: string; readonly env: NodeJS.ProcessEnv } => {
  const directory = mkdtempSync(join(tmpdir(), "wac-operator-"))
  const bin = join(directory, "bin")
  mkdirSync(bin)
  copyFileSync(process.execPath, join(bin, "node"))
  chmodSync(directory, 0o755)
  for (const place of ["home", "project", "tmp"]) {
    mkdirSync(join(directory, place))
    if (isRoot) chownSync(join(directory, place), nobody, nobody)
  }
  const places = process.env["PATH"]!.split(delimiter).filter((place) => !place.includes("node_modules"))
  for (const program of programs) {
    const found = places.map((place) => join(place, program)).find(existsSync)
    if (found === undefined) throw new Error(`${program} is not in PATH`)
    symlinkSync(realpathSync(found), join(bin, program))
  }
  return {
    directory,
    env: {
      PATH: bin,
      HOME: join(directory, "home"),
      TMPDIR: join(directory, "tmp"),
      npm_config_update_notifier: "false"
    }
  }
}

const sizeOf = (directory: string): number =>
  readdirSync(directory, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .reduce((sum, { name, parentPath }) => sum + statSync(join(parentPath, name)).size, 0)

const packagesIn = (directory: string): number =>
  readdirSync(directory, { recursive: true, encoding: "utf8" })
    .filter((path) => /(?:^|node_modules\/)(?:@[^/]+\/)?[^/]+\/package\.json$/.test(path)).length

const millisecondsSince = (begun: number): number => Math.round(performance.now() - begun)

interface Guide {
  readonly listening: string
  /** The file with the set-up link. */
  readonly signIn: { readonly path: string }
}

/** Starts the server by `npx`, and waits until it responds. */
const start = async (project: string, env: NodeJS.ProcessEnv) => {
  const begun = performance.now()
  const child = spawn("npx", ["--no-install", "@wac/server", "start", "--json"], {
    cwd: project,
    env: {
      ...env,
      PORT: "0",
      DATABASE_URL: "memory:",
      WEBHOOK_ALLOW_INSECURE: "true",
      WEBHOOK_ALLOW_CIDRS: "127.0.0.0/8"
    },
    stdio: ["ignore", "pipe", "pipe"],
    detached: true,
    ...as
  })
  const guide = await new Promise<Guide>((resolve, reject) => {
    let output = ""
    const take = (chunk: Buffer) => {
      output += chunk.toString()
      const line = output.split("\n").slice(0, -1).find((line) => line.startsWith("{\"listening\""))
      if (line !== undefined) resolve(JSON.parse(line))
    }
    child.stdout.on("data", take)
    child.stderr.on("data", take)
    child.on("close", () => reject(new Error(`the server ended: ${output}`)))
  })
  const response = await fetch(`${guide.listening}/readyz`)
  if (response.status !== 200) throw new Error(`/readyz returned ${response.status}`)
  return { child, guide, begun, ready: millisecondsSince(begun) }
}

const stop = async (child: ChildProcess): Promise<void> => {
  if (child.exitCode !== null || child.signalCode !== null) return
  const closed = once(child, "close")
  process.kill(-child.pid!, "SIGTERM")
  await closed
}

/** The resident memory of the largest process of a group. */
const residentBytes = async (group: number): Promise<number | undefined> => {
  const { stdout } = await promisify(execFile)("ps", ["-o", "rss=", "-g", `${group}`]).catch(() => ({ stdout: "" }))
  const sizes = stdout.split("\n").map(Number).filter((size) => size > 0)
  return sizes.length === 0 ? undefined : Math.max(...sizes) * 1024
}

/** Makes one request, which must succeed. */
const call = async (method: string, url: string, headers: Record<string, string>, body: unknown) => {
  const response = await fetch(url, {
    method,
    headers: { "content-type": "application/json", ...headers },
    body: JSON.stringify(body)
  })
  const text = await response.text()
  if (!response.ok) throw new Error(`${method} ${url} returned ${response.status} ${text}`)
  return { body: JSON.parse(text), cookie: response.headers.getSetCookie()[0]?.split(";")[0] ?? "" }
}

/** A receiver on this machine: the bodies and signatures that it got. */
const receive = async () => {
  const received: Array<{ readonly body: string; readonly signature: string | undefined }> = []
  const waiting: Array<() => void> = []
  const server = createServer((request, response) => {
    const chunks: Array<Buffer> = []
    request.on("data", (chunk: Buffer) => chunks.push(chunk))
    request.on("end", () => {
      const signature = request.headers[SIGNATURE_HEADER.toLowerCase()]
      received.push({
        body: Buffer.concat(chunks).toString(),
        signature: typeof signature === "string" ? signature : undefined
      })
      response.writeHead(200).end()
      for (const resume of waiting.splice(0)) resume()
    })
  }).listen(0, "127.0.0.1")
  await once(server, "listening")
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`,
    next: async () => {
      if (received.length === 0) await new Promise<void>((resolve) => waiting.push(resolve))
      return received.shift()!
    },
    close: () => {
      server.closeAllConnections()
      server.close()
    }
  }
}

/** Creates the owner, a webhook and a key, sends a message, and waits for its verified event. */
const sendAndVerify = async ({ listening, signIn }: Guide): Promise<void> => {
  const receiver = await receive()
  try {
    const ownPage = { "sec-fetch-site": "same-origin" }
    const { cookie } = await call("POST", `${listening}/internal/setup`, ownPage, {
      token: readFileSync(signIn.path, "utf8").trim().split("#")[1]!,
      email: "owner@example.com",
      password: "correct horse battery",
      workspaceName: "Trial"
    })
    const session = { ...ownPage, cookie }
    const webhook = await call("PUT", `${listening}/internal/webhook`, session, { url: receiver.url })
    const key = await call("POST", `${listening}/internal/api-keys`, { ...session, "idempotency-key": "key" }, {
      name: "trial"
    })
    const sent = await call("POST", `${listening}/v1/messages`, {
      authorization: `Bearer ${key.body.apiKey}`,
      "idempotency-key": "send"
    }, { to: "+15551234567", type: "template", template: { name: "hello_world", language: "en_US" } })
    const { body, signature } = await receiver.next()
    const result = await verify(body, signature, webhook.body.signingSecret)
    if (!result.ok) throw new Error(`the event's signature is not valid: ${result.reason}`)
    if (!body.includes(sent.body.message_id)) throw new Error(`the event is not of the message: ${body}`)
  } finally {
    receiver.close()
  }
}

/** Tries packed files: the server's, and those of what it depends on. */
export const run = async (packed: ReadonlyArray<string>): Promise<Found> => {
  const { directory, env } = prepare()
  const project = join(directory, "project")
  try {
    const dependencies = packed.map((file) => {
      const copy = join(directory, basename(file))
      copyFileSync(file, copy)
      return copy
    })
    const begun = performance.now()
    // the prefix, because npm would take a project of a directory above for this one
    const args = ["install", "--prefix", project, "--offline", "--no-audit", "--no-fund", ...dependencies]
    await promisify(execFile)("npm", args, { cwd: project, env, ...as })
    const installing = millisecondsSince(begun)
    const modules = join(project, "node_modules")
    const first = await start(project, env)
    try {
      await sendAndVerify(first.guide)
    } finally {
      await stop(first.child)
    }
    const verified = millisecondsSince(first.begun)
    const second = await start(project, env)
    const idleBytes = await residentBytes(second.child.pid!).finally(() => stop(second.child))
    return {
      uid: isRoot ? nobody : process.getuid?.() ?? nobody,
      installedPackages: packagesIn(modules),
      installedBytes: sizeOf(modules),
      installing,
      firstReady: first.ready,
      secondReady: second.ready,
      verified,
      idleBytes
    }
  } finally {
    rmSync(directory, { recursive: true, force: true })
  }
}
