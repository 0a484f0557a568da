/**
 * What an operator has to watch at night: two processes of the packed server on PostgreSQL behind TLS, a provider, a
 * receiver behind TLS, Prometheus with its rules, a collector, and callers who send all the time.
 */
import * as Certificates from "@wac/testbed/Certificates"
import * as Daemon from "@wac/testbed/Daemon"
import * as Disk from "@wac/testbed/Disk"
import * as FreePort from "@wac/testbed/FreePort"
import { owner as unprivileged } from "@wac/testbed/Owner"
import * as PostgresServer from "@wac/testbed/PostgresServer"
import * as Program from "@wac/testbed/Program"
import { Effect } from "effect"
import { execFile } from "node:child_process"
import { randomBytes } from "node:crypto"
import { chmodSync, chownSync, mkdirSync, rmSync } from "node:fs"
import { join } from "node:path"
import { promisify } from "node:util"
import { assert } from "vitest"
import * as guide from "../../../apps/server/test/guide.ts"
import { call, did, owner, people } from "../Caller.ts"
import type * as PackedServer from "../PackedServer.ts"
import * as Surroundings from "../Surroundings.ts"
import * as Balancer from "./Balancer.ts"
import * as Load from "./Load.ts"
import * as Process from "./Process.ts"
import * as Prometheus from "./Prometheus.ts"
import * as Receiver from "./Receiver.ts"

/** What the machine must have. */
export const needed = Program.needed({
  programs: ["prometheus", "openssl", "pg_dump", "initdb", "git", Disk.check],
  untested: "the operator's night",
  install: "as root: apt-get install prometheus postgresql openssl git"
})

/** How many sends begin each second. */
const perSecond = 5

/** How long callers repeat a send once nothing is wrong any more, in milliseconds. */
const repeating = 30_000

const metricsToken = "a-token-for-metrics"

/** One finding of `wac doctor`. */
interface Finding {
  readonly check: string
  readonly state: "fine" | "doubtful" | "wrong"
  readonly message: string
}

/** Has a thing closed in the end. */
export type Keep = <A>(thing: A, close: (thing: A) => unknown) => A

/** What keeps things until it closes them, the latest first. What comes after that is closed at once. */
export const keeper = () => {
  let isClosed = false
  const closing: Array<() => unknown> = []
  const keep: Keep = (thing, close) => {
    if (isClosed) {
      void close(thing)
      throw new Error("the night is over")
    }
    closing.push(() => close(thing))
    return thing
  }
  const close = async () => {
    isClosed = true
    for (const each of closing.splice(0).reverse()) await each()
  }
  return { keep, close }
}

/** The roles that the guide creates. */
const roles = { owner: "wac_owner", service: "wac_service" } as const

/** A database server with the guide's two roles, whose database `wac` is on a disk of its own. */
const database = async (keep: Keep, { authority, certificateFile, keyFile }: Certificates.Certificates) => {
  const user = unprivileged()
  const disk = keep(await Disk.mount(256), ({ close }) => close())
  const tables = join(disk.directory, "tables")
  mkdirSync(tables, { mode: 0o700 })
  if (user !== undefined) {
    for (const path of [keyFile, tables]) chownSync(path, user.uid, user.gid)
  }
  const server = keep(
    await PostgresServer.startWith(
      { bin: Program.postgresBin },
      "ssl=on",
      `ssl_cert_file=${certificateFile}`,
      `ssl_key_file=${keyFile}`
    ),
    ({ remove }) => remove()
  )
  const urlOf = (name: string, role?: keyof typeof roles) => {
    const url = new URL(server.url)
    url.pathname = name
    if (role !== undefined) url.username = roles[role]
    return `${url}?sslmode=verify-full`
  }
  /** The same for PostgreSQL's own programs, which do not know Node's authorities. */
  const clientUrlOf = (name: string) => `${urlOf(name)}&sslrootcert=${authority}`
  /** Runs one of PostgreSQL's programs; gives what it wrote. */
  const run = async (program: string, ...args: ReadonlyArray<string>): Promise<string> =>
    (await promisify(execFile)(join(Program.postgresBin, program), args)).stdout.trim()
  const ask = (name: string, statement: string): Promise<string> =>
    run("psql", clientUrlOf(name), "--no-psqlrc", "--tuples-only", "--no-align", "--command", statement)
  await ask("postgres", `create tablespace small location '${tables}'`)
  const [commands] = await Effect.runPromise(guide.blocks("postgresql.md", "a PostgreSQL server with two roles"))
  await Effect.runPromise(guide.run(commands!, {
    replaced: [
      ["postgres://postgres:secret@127.0.0.1/postgres", `'${clientUrlOf("postgres")}'`],
      ["'secret'", `'${new URL(server.url).password}'`]
    ]
  }))
  await ask("postgres", "alter database wac set tablespace small")
  return { server, disk, urlOf, clientUrlOf, run, ask }
}

/** Starts everything, with the given version of the packed server. */
export const start = async (keep: Keep, packed: PackedServer.PackedServer) => {
  /** For the operator's files. */
  const directory = keep(
    await Daemon.directory("wac-night-"),
    (place) => rmSync(place, { recursive: true, force: true })
  )
  chmodSync(directory, 0o755)
  const certificates = await Certificates.make(directory)
  const postgres = await database(keep, certificates)
  const logDisk = keep(await Disk.mount(64), ({ close }) => close())
  const receiver = keep(await Receiver.start(certificates), ({ close }) => close())
  const collector = keep(await Surroundings.collect(), ({ close }) => close())
  const { api: provider } = keep(
    await Surroundings.simulator({
      settings: { sentAfter: null, deliveredAfter: 50, readAfter: null, retryAfter: [500], pairLimit: false }
    }),
    ({ close }) => close()
  )
  const ports = [await FreePort.find(), await FreePort.find()]
  const balancer = keep(await Balancer.start(ports), ({ close }) => close())

  /** With what the processes run. A step of the night may change it. */
  const setting = {
    packed,
    variables: {
      ...provider.environment,
      DATABASE_URL: postgres.urlOf("wac", "service"),
      WAC_MASTER_KEY: randomBytes(32).toString("base64"),
      WAC_OWNER_EMAIL: owner.email,
      WAC_OWNER_PASSWORD: owner.password,
      NODE_EXTRA_CA_CERTS: certificates.authority,
      WEBHOOK_ALLOW_CIDRS: "127.0.0.0/8",
      METRICS_TOKEN: metricsToken,
      OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
      LOG_FORMAT: "json",
      LOG_LEVEL: "debug"
    } as PackedServer.Variables
  }
  /** Brings the schema up to date, as its owner; gives what the command wrote. */
  const migrate = async (): Promise<string> => {
    const variables = { ...setting.variables, DATABASE_URL: postgres.urlOf("wac", "owner") }
    const { code, stderr, stdout } = await setting.packed.run(process.execPath, ["migrate"], variables)
    assert.strictEqual(code, 0, stderr)
    return stdout
  }
  await migrate()

  const [first, second] = ports.map((port, n) =>
    keep(Process.make(`process ${n + 1}`, port, join(logDisk.directory, `${n + 1}.log`)), ({ kill }) => kill())
  ) as [Process.Process, Process.Process]
  const processes = [first, second]
  for (const process of processes) await process.start(setting)

  const { subscribed, problem } = await Effect.runPromise(
    provider.courier.subscribe(`${balancer.url}/providers/whatsapp/webhook`, provider.identity.verifyToken)
  )
  assert.isTrue(subscribed, problem)
  const { authorization, session } = await people(first.url)
  await did(`${first.url}/internal/templates/sync`, { method: "POST", headers: session })
  const { body: { signingSecret } } = await did(`${first.url}/internal/webhook`, {
    method: "PUT",
    headers: session,
    json: { url: receiver.url }
  })
  receiver.trust(signingSecret)
  const prometheus = keep(
    await Prometheus.start(ports.map((port) => `127.0.0.1:${port}`), metricsToken),
    (each) => each.close()
  )
  const load = keep(
    await Load.start(processes.map(({ url }) => url), authorization.slice("Bearer ".length), perSecond),
    ({ close }) => close()
  )

  /** A metric of a process, by its name and labels as `/metrics` has them. */
  const metric = async ({ url }: Process.Process, name: string): Promise<number> => {
    const { text } = await did(`${url}/metrics`, { headers: { authorization: `Bearer ${metricsToken}` } })
    const line = text.split("\n").find((line) => line.startsWith(`${name} `))
    return Number(line?.slice(name.length))
  }

  /** Carries out an operator's command line; gives what it wrote. */
  const wac = async (...words: ReadonlyArray<string>): Promise<string> =>
    (await setting.packed.run(process.execPath, words, setting.variables)).stdout

  /** What `wac doctor` finds wrong. */
  const doctor = async (): Promise<ReadonlyArray<string>> => {
    const { findings }: { readonly findings: ReadonlyArray<Finding> } = JSON.parse(await wac("doctor", "--json"))
    return findings.filter(({ state }) => state === "wrong").map(({ message }) => message)
  }

  /** How often the provider accepted a message for a recipient. */
  const accepted = async (to: string): Promise<number> =>
    (await Effect.runPromise(provider.recipients)).get(to)?.accepted ?? 0

  /** Waits until the callers who send now are told, through every process, that their messages are accepted. */
  const flows = async (): Promise<void> => {
    for (const { name, url } of processes) {
      await Surroundings.until(`a send through ${name}`, async () => {
        const { status } = await call(`${url}/readyz`)
        return status === 200 || undefined
      })
    }
    const from = load.sends.length
    await Surroundings.until(
      "20 further sends",
      () => load.sends.slice(from).filter(({ messageId }) => messageId !== undefined).length >= 20 || undefined
    )
  }

  return {
    directory,
    postgres,
    logDisk,
    receiver,
    collector,
    provider,
    setting,
    processes,
    first,
    second,
    session,
    authorization,
    prometheus,
    load,
    metric,
    migrate,
    wac,
    doctor,
    accepted,
    flows,
    repeating
  }
}

export type Night = Awaited<ReturnType<typeof start>>
