/**
 * An installation to which faults happen: PostgreSQL, two server processes that each reach it by a proxy, a provider
 * that each reaches by a gateway, a receiver, and callers.
 */
import * as Certificates from "@wac/testbed/Certificates"
import * as Daemon from "@wac/testbed/Daemon"
import * as Disk from "@wac/testbed/Disk"
import { leash } from "@wac/testbed/Leash"
import { owner as unprivileged } from "@wac/testbed/Owner"
import * as PostgresProxy from "@wac/testbed/PostgresProxy"
import * as PostgresServer from "@wac/testbed/PostgresServer"
import * as Program from "@wac/testbed/Program"
import { execFile, execFileSync } from "node:child_process"
import { randomBytes } from "node:crypto"
import { chownSync, mkdirSync, rmSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { promisify } from "node:util"
import * as Load from "./Load.ts"
import * as Provider from "./Provider.ts"
import * as Receiver from "./Receiver.ts"
import * as Recorder from "./Recorder.ts"
import * as Server from "./Server.ts"
import type { Setting } from "./Setting.ts"
import { now, pass } from "./Time.ts"

/** How many sends begin each second: far below what the smallest machine can do. */
const perSecond = 8

/** So many megabytes hold an installation with room for what the callers send. */
const diskSize = 96

const owner = { email: "owner@example.com", password: "a horse in the garden" }

/** Limits that no caller meets. */
const limits = {
  workspaceTiers: { standard: 100_000 },
  phoneNumberTiers: { standard: 100_000 },
  pair: { everySeconds: 0.001, burst: 1_000_000 }
}

/** What a browser says of a request of the service's own pages. */
const ownPage = { "sec-fetch-site": "same-origin" }

/** A request of the owner's that must succeed, if not the first time: a slow machine may overload the service. */
const did = async (
  url: string,
  headers: Readonly<Record<string, string>>,
  method: string,
  body?: unknown
): Promise<{ readonly headers: Headers; readonly body: ReturnType<typeof JSON.parse> }> => {
  const response = await fetch(url, {
    method,
    headers: { ...headers, ...(body === undefined ? {} : { "content-type": "application/json" }) },
    ...(body === undefined ? {} : { body: JSON.stringify(body) })
  })
  const text = await response.text()
  if (response.status === 503) {
    await pass(1000 * Number(response.headers.get("retry-after")))
    return did(url, headers, method, body)
  }
  if (!response.ok) throw new Error(`${method} ${url}: ${response.status} ${text}`)
  return {
    headers: response.headers,
    body: text === "" ? undefined : JSON.parse(text) as ReturnType<typeof JSON.parse>
  }
}

/** The URL of a database whose tables are in a directory. */
const databaseOn = async (server: string, directory: string): Promise<string> => {
  const tables = join(directory, "tables")
  mkdirSync(tables, { mode: 0o700 })
  const user = unprivileged()
  if (user !== undefined) chownSync(tables, user.uid, user.gid)
  const psql = (statement: string) =>
    promisify(execFile)(join(Program.postgresBin, "psql"), [server, "--no-psqlrc", "--command", statement])
  await psql(`create tablespace small location '${tables}'`)
  await psql("create database wac tablespace small template template0 encoding 'UTF8'")
  const url = new URL(server)
  url.pathname = "/wac"
  return url.href
}

/** What `faketime` has a program load, which then reads how far its clock is off from a file. */
const movable = (file: string): Readonly<Record<string, string>> => ({
  LD_PRELOAD: execFileSync("faketime", ["-f", "+0s", "printenv", "LD_PRELOAD"], { encoding: "utf8" }).trim(),
  FAKETIME_TIMESTAMP_FILE: file,
  FAKETIME_CACHE_DURATION: "1",
  FAKETIME_DONT_FAKE_MONOTONIC: "1"
})

/** Sets an installation up; closes what there is of it if that fails. */
export const start = async (setting: Setting = {}) => {
  const closing: Array<() => unknown> = []
  const close = async (): Promise<void> => {
    for (const each of closing.splice(0).reverse()) await each()
  }
  try {
    return await build(setting, closing, close)
  } catch (error) {
    await close()
    throw error
  }
}

const build = async (setting: Setting, closing: Array<() => unknown>, close: () => Promise<void>) => {
  const recorder = Recorder.make()
  const directory = await Daemon.directory("wac-faults-")
  closing.push(() => rmSync(directory, { recursive: true, force: true }), leash({ directory }))
  const disk = setting.onDisk === undefined ? undefined : await Disk.mount(diskSize)
  if (disk !== undefined) closing.push(disk.close)
  const certificates = setting.isReceiverSecure === true ? await Certificates.make(directory) : undefined

  const postgres = await PostgresServer.start()
  closing.push(postgres.remove)
  const database = setting.onDisk === "database" ? await databaseOn(postgres.url, disk!.directory) : postgres.url
  const provider = await Provider.start(recorder)
  closing.push(provider.close)
  const receiver = await Receiver.start(recorder, certificates)
  closing.push(receiver.close)

  const clockFile = (name: string) => join(directory, `${name}.clock`)
  const masterKey = randomBytes(32).toString("base64")
  const process = async (name: string) => {
    const proxy = await PostgresProxy.start(database)
    closing.push(proxy.close)
    const notifications = setting.listensApart === true ? await PostgresProxy.start(database) : undefined
    if (notifications !== undefined) closing.push(notifications.close)
    writeFileSync(clockFile(name), "+0s\n")
    const server = await Server.make(name, {
      ...provider.environment,
      WHATSAPP_BASE_URL: await provider.gateway(name),
      DATABASE_URL: proxy.url,
      ...(notifications === undefined ? {} : { DATABASE_LISTEN_URL: notifications.url }),
      WAC_MASTER_KEY: masterKey,
      WAC_OWNER_EMAIL: owner.email,
      WAC_OWNER_PASSWORD: owner.password,
      WAC_LIMITS: JSON.stringify(limits),
      WEBHOOK_ALLOW_INSECURE: "true",
      WEBHOOK_ALLOW_CIDRS: "127.0.0.0/8",
      LOG_FORMAT: "json",
      ...(certificates === undefined ? {} : { NODE_EXTRA_CA_CERTS: certificates.authority }),
      ...(setting.areClocksMovable === true ? movable(clockFile(name)) : {}),
      ...(setting.onDisk === "log" ? { LOG_LEVEL: "debug" } : {})
    }, join(setting.onDisk === "log" ? disk!.directory : directory, `${name}.log`))
    closing.push(server.kill)
    // the second finds the schema that the first makes
    await server.start()
    return { ...server, proxy, notifications }
  }
  const processes = [await process("a"), await process("b")] as const
  await provider.subscribe(processes.map(({ url }) => url))

  const [{ url }] = processes
  const { headers } = await did(`${url}/internal/session`, ownPage, "POST", owner)
  const session = { ...ownPage, cookie: headers.getSetCookie()[0]!.split(";")[0]! }
  const { body: { apiKey } } = await did(
    `${url}/internal/api-keys`,
    { ...session, "idempotency-key": crypto.randomUUID() },
    "POST",
    { name: "faults" }
  )
  await did(`${url}/internal/templates/sync`, session, "POST")
  const begun = now()
  const { body: webhook } = await did(`${url}/internal/webhook`, session, "PUT", { url: receiver.url })
  receiver.trust(webhook.id, webhook.signingSecret)
  recorder.add({ kind: "webhook", webhook: webhook.id, process: "owner", begun, ended: now() })

  const load = Load.start(processes, apiKey, perSecond, recorder)
  closing.push(load.close)

  const authorized = { authorization: `Bearer ${apiKey}` }
  const get = async (path: string) => (await did(`${url}${path}`, authorized, "GET")).body
  return {
    recorder,
    postgres,
    provider,
    receiver,
    processes,
    load,
    disk,
    certificates,
    apiKey,
    /** Moves the clock of a process, such as by `+10m`. */
    moveClock: (name: string, by: string): void => writeFileSync(clockFile(name), `${by}\n`),
    /** The status of a message. */
    status: async (messageId: string): Promise<string> => (await get(`/v1/messages/${messageId}`)).status,
    /** Records every event that is listed. */
    listEvents: async (): Promise<void> => {
      for (let path: string | undefined = "/v1/events?limit=100"; path !== undefined;) {
        const begun = now()
        const page: ReturnType<typeof JSON.parse> = await get(path)
        for (const event of page.data) {
          recorder.add({ kind: "event", event, process: "api", begun, ended: now() })
        }
        path = page.has_more === true
          ? `/v1/events?limit=100&cursor=${encodeURIComponent(page.next_cursor)}`
          : undefined
      }
    },
    close
  }
}

/** An installation. */
export type Stage = Awaited<ReturnType<typeof start>>
