/**
 * What a send waits for PostgreSQL: from where a statement is written to the socket to where its answer is in hand, the
 * way of both, the reading of the parameters and the commit included. Taken between the process and its network, so that
 * nothing of its own client is counted.
 */
import { Effect } from "effect"
import { subscribe, unsubscribe } from "node:diagnostics_channel"
import type { Socket } from "node:net"
import type { BenchFailed } from "./BenchFailed.ts"
import type { Child } from "./Child.ts"
import { median } from "./Statistics.ts"

/** Asks a process to note the waits of its requests from now on, or for their median (ms) and to stop. */
export interface Watch {
  readonly watch: boolean
}

export interface Watcher {
  /** A send begins, of which there may be one at a time, or ends. */
  readonly begin: () => void
  readonly end: () => void
  /** The median (ms) of what the sends waited that began and ended since this was last asked. */
  readonly waited: () => number
  /** Has each request to an HTTP server of this process be a send, and answers {@link Watch}. */
  readonly answer: (question: Watch) => number
}

/** To be called before the process connects to the database of this URL. */
export const watcher = (databaseUrl: string): Watcher => {
  const port = Number(new URL(databaseUrl).port || "5432")
  /** Of the send under way. */
  let waited: number | undefined
  let waits: Array<number> = []

  const follow = (socket: Socket) => {
    let writtenAt: number | undefined
    const write = socket.write
    socket.write = ((...args: Parameters<typeof write>) => {
      if (waited !== undefined) writtenAt ??= performance.now()
      return write.apply(socket, args)
    }) as typeof write
    // what one send is answered comes in one piece
    socket.prependListener("data", () => {
      if (writtenAt !== undefined && waited !== undefined) waited += performance.now() - writtenAt
      writtenAt = undefined
    })
  }
  subscribe("net.client.socket", (opened) => {
    const { socket } = opened as { readonly socket: Socket }
    // not before: connecting gives a socket its own `write` back
    socket.once("connect", () => {
      if (socket.remotePort === port) follow(socket)
    })
  })

  const begin = () => {
    waited = 0
  }
  const end = () => {
    if (waited !== undefined) waits.push(waited)
    waited = undefined
  }
  const take = () => {
    const taken = median(waits)
    waits = []
    return taken
  }
  return {
    begin,
    end,
    waited: take,
    answer: ({ watch }) => {
      const change = watch ? subscribe : unsubscribe
      change("http.server.request.start", begin)
      change("http.server.response.finish", end)
      return take()
    }
  }
}

/** Runs sends that come one after the other, and gives the median (ms) of what each waited beside what they give. */
export type Watched = <A>(
  sends: Effect.Effect<A, BenchFailed>
) => Effect.Effect<{ readonly sends: A; readonly waited: number }, BenchFailed>

/** The sends are to a child that answers {@link Watch}. */
export const watched = <Ready>({ ask }: Child<Ready>): Watched => (sends) =>
  Effect.gen(function*() {
    yield* ask({ watch: true } satisfies Watch)
    const done = yield* sends
    return { sends: done, waited: yield* ask<number>({ watch: false } satisfies Watch) }
  })
