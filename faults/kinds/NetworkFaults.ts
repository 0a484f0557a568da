/**
 * A network between the processes and PostgreSQL that breaks, is slow, or swallows what is sent.
 */
import type { Fault } from "../Fault.ts"
import { pass, repeatedly } from "../Time.ts"

/** By so many milliseconds each message of a slow network is late. */
const late = 250

const cut: Fault = {
  name: "connections-cut",
  about: "All connections to PostgreSQL break, twice each second",
  begin: ({ processes }) =>
    Promise.resolve(repeatedly(async () => {
      for (const { proxy } of processes) proxy.cut()
      await pass(500)
    }))
}

const refused: Fault = {
  name: "postgres-unreachable",
  about: "PostgreSQL refuses connections of one process",
  begin: async ({ processes: [{ proxy }] }) => {
    await proxy.refuse()
    return proxy.thaw
  }
}

const silent: Fault = {
  name: "network-silent",
  about: "Nothing that is sent between the processes and PostgreSQL arrives",
  begin: ({ processes }) => {
    for (const { proxy } of processes) proxy.freeze()
    return Promise.resolve(() => {
      for (const { proxy } of processes) proxy.thaw()
    })
  }
}

const slow: Fault = {
  name: "postgres-slow",
  about: `Each message between the processes and PostgreSQL is ${late} ms late`,
  begin: ({ processes }) => {
    for (const { proxy } of processes) proxy.slow(late)
    return Promise.resolve(() => {
      for (const { proxy } of processes) proxy.slow(0)
    })
  }
}

const deaf: Fault = {
  name: "notifications-lost",
  about: "Connections for notifications (`LISTEN`) stay open and carry nothing",
  setting: { listensApart: true },
  begin: ({ processes }) => {
    for (const { notifications } of processes) notifications!.freeze()
    return Promise.resolve(() => {
      for (const { notifications } of processes) notifications!.thaw()
    })
  }
}

/** The faults of the network before PostgreSQL. */
export const all: ReadonlyArray<Fault> = [cut, refused, silent, slow, deaf]
