/**
 * PostgreSQL servers that Patroni runs as a primary and its standbys, behind HAProxy, with the configuration files of
 * `deploy/`.
 */
import { existsSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import * as Daemon from "./Daemon.ts"
import { deployed } from "./Deployed.ts"
import * as FreePort from "./FreePort.ts"
import { leash } from "./Leash.ts"
import { owner } from "./Owner.ts"
import * as Program from "./Program.ts"

/** The parts of a cluster. */
export const programs = ["patroni", "etcd", "haproxy", "pg_rewind"]

/** A member as Patroni reports it. */
interface Member {
  readonly name: string
  readonly role: string
  readonly state: string
}

/** Where a member's machine has its PostgreSQL. */
export interface Machine {
  readonly name: string
  /** The data directory. */
  readonly data: string
  readonly port: number
  /** The directory of the socket. */
  readonly socket: string
}

export interface PatroniCluster {
  /** For `patronictl` and `psql`. */
  readonly env: Readonly<Record<string, string>>
  /** The database `wac` of the current primary, through HAProxy. */
  readonly proxied: string
  /** The database `wac` with every member as a host. */
  readonly hosts: string
  /** Resolves to the current primary's name, once all members run and one of them is a synchronous standby. */
  readonly whole: () => Promise<string>
  /** Ends a member's PostgreSQL with SIGKILL. */
  readonly crash: (name: string) => void
  readonly members: ReadonlyArray<Machine>
  /** Stops a member's Patroni, which stops its PostgreSQL. */
  readonly halt: (name: string) => Promise<void>
  /** Starts a member's Patroni again. */
  readonly resume: (name: string) => Promise<void>
  readonly stop: () => Promise<void>
}

/** How long a member may take to start and to follow the primary on the slowest machine, in milliseconds. */
const startTimeout = 120_000

/** Passwords of a cluster that only loopback reaches. */
const password = "secret"

const environment = (
  directory: string,
  name: string,
  ports: { readonly postgres: number; readonly patroni: number; readonly etcd: number }
) => ({
  PATRONI_NAME: name,
  PATRONI_POSTGRESQL_LISTEN: `127.0.0.1:${ports.postgres}`,
  PATRONI_POSTGRESQL_CONNECT_ADDRESS: `127.0.0.1:${ports.postgres}`,
  PATRONI_RESTAPI_LISTEN: `127.0.0.1:${ports.patroni}`,
  PATRONI_RESTAPI_CONNECT_ADDRESS: `127.0.0.1:${ports.patroni}`,
  PATRONI_ETCD3_HOSTS: `127.0.0.1:${ports.etcd}`,
  PATRONI_POSTGRESQL_BIN_DIR: Program.postgresBin,
  PATRONI_POSTGRESQL_DATA_DIR: join(directory, name),
  PATRONI_POSTGRESQL_PGPASS: join(directory, `${name}.pgpass`),
  PATRONI_SUPERUSER_USERNAME: "postgres",
  PATRONI_SUPERUSER_PASSWORD: password,
  PATRONI_REPLICATION_USERNAME: "replicator",
  PATRONI_REPLICATION_PASSWORD: password
})

const pause = (millis: number) => new Promise((resolve) => setTimeout(resolve, millis))

/** The configuration, with the sockets in a directory of the cluster's. */
const configIn = (directory: string): string => {
  const text = readFileSync(deployed("patroni/config.yml"), "utf8").replace("/var/run/postgresql", directory)
  const path = join(directory, "config.yml")
  // PostgreSQL runs as the user of the tests, unless that is root
  writeFileSync(
    path,
    owner() === undefined ? text.replace("local all postgres peer", "local all postgres trust") : text
  )
  return path
}

/**
 * Starts a cluster of two or three members, and waits until it is whole. It has no database yet. `variables` are further
 * ones of a machine.
 */
export const start = async (
  size: 2 | 3,
  variables: (machine: Machine) => Readonly<Record<string, string>> = () => ({})
): Promise<PatroniCluster> => {
  const directory = await Daemon.directory("wac-patroni-")
  const names = ["db1", "db2", "db3"].slice(0, size)
  const etcd = await FreePort.find()
  const peers = await FreePort.find()
  const primary = await FreePort.find()
  const members = await Promise.all(
    names.map(async (name) => ({ name, postgres: await FreePort.find(), patroni: await FreePort.find() }))
  )
  const config = configIn(directory)
  const machines = members.map(({ name, postgres }): Machine => ({
    name,
    data: join(directory, name),
    port: postgres,
    socket: directory
  }))
  const daemons: Array<Daemon.Daemon> = []
  const patronis = new Map<string, Daemon.Daemon>()
  const pidOf = (name: string) =>
    Number(readFileSync(join(directory, name, "postmaster.pid"), "utf8").split("\n", 1)[0])
  // each PostgreSQL outlives its Patroni
  const release = leash({ directory, pidFiles: names.map((name) => join(directory, name, "postmaster.pid")) })
  const stop = async () => {
    // Patroni stops its PostgreSQL
    for (const daemon of daemons) daemon.kill("SIGTERM")
    await Promise.all(daemons.map(({ ended }) => ended))
    for (const name of names) {
      if (existsSync(join(directory, name, "postmaster.pid"))) process.kill(pidOf(name), "SIGQUIT")
    }
    release()
    rmSync(directory, { recursive: true, force: true })
  }
  const run = async (...daemon: Parameters<typeof Daemon.start>) => {
    const started = await Daemon.start(...daemon)
    daemons.unshift(started)
    return started
  }
  const resume = async (name: string) => {
    const i = names.indexOf(name)
    const member = members[i]!
    const patroni = await run("patroni", [config], {
      port: member.patroni,
      cwd: directory,
      env: { ...environment(directory, name, { ...member, etcd }), ...variables(machines[i]!) }
    })
    patronis.set(name, patroni)
  }
  const cluster = async (): Promise<ReadonlyArray<Member>> => {
    const response = await fetch(`http://127.0.0.1:${members[0]!.patroni}/cluster`)
    return (await response.json() as { readonly members: ReadonlyArray<Member> }).members
  }
  const whole = async () => {
    const begun = performance.now()
    for (;;) {
      const all = await cluster().catch(() => [])
      const leader = all.find(({ role }) => role === "leader")
      const isWhole = all.length === size && all.every(({ state }) => state === "running" || state === "streaming") &&
        all.some(({ role }) => role === "sync_standby")
      if (isWhole && leader !== undefined) return leader.name
      if (performance.now() - begun > startTimeout) {
        throw new Error(`the cluster is ${JSON.stringify(all)}: ${daemons.map(({ log }) => log()).join("\n")}`)
      }
      await pause(100)
    }
  }
  try {
    await run("etcd", [
      `--data-dir=${join(directory, "etcd")}`,
      `--listen-client-urls=http://127.0.0.1:${etcd}`,
      `--advertise-client-urls=http://127.0.0.1:${etcd}`,
      `--listen-peer-urls=http://127.0.0.1:${peers}`,
      `--initial-advertise-peer-urls=http://127.0.0.1:${peers}`,
      `--initial-cluster=default=http://127.0.0.1:${peers}`
    ], { port: etcd })
    await run("haproxy", ["-f", deployed("haproxy/haproxy.cfg")], {
      port: primary,
      env: {
        PRIMARY: `127.0.0.1:${primary}`,
        ...Object.fromEntries(members.flatMap(({ name, patroni, postgres }) => [
          [name.toUpperCase(), `127.0.0.1:${postgres}`],
          [`${name.toUpperCase()}_PATRONI_PORT`, `${patroni}`]
        ]))
      }
    })
    await Promise.all(names.map(resume))
    await whole()
  } catch (error) {
    await stop()
    throw error
  }
  const urlOf = (hosts: string) => `postgres://wac:${password}@${hosts}/wac`
  return {
    env: { PATRONI_ETCD3_HOSTS: `127.0.0.1:${etcd}`, HOME: directory },
    proxied: urlOf(`127.0.0.1:${primary}`),
    hosts: urlOf(members.map(({ postgres }) => `127.0.0.1:${postgres}`).join(",")),
    whole,
    crash: (name) => {
      process.kill(pidOf(name), "SIGKILL")
    },
    members: machines,
    halt: async (name) => {
      const patroni = patronis.get(name)!
      patroni.kill("SIGTERM")
      await patroni.ended
    },
    resume,
    stop
  }
}
