/**
 * The simulated Cloud API, with a gateway before it for each server process, which records the calls and what the
 * provider reports.
 */
import { CloudApi } from "@wac/simulator"
import { Effect, Exit, Scope } from "effect"
import { once } from "node:events"
import { createServer, type IncomingMessage, request, type Server, type ServerResponse } from "node:http"
import type { AddressInfo } from "node:net"
import type { Recorder } from "./Recorder.ts"
import { now } from "./Time.ts"

const text = async (stream: IncomingMessage): Promise<string> => {
  const chunks: Array<Buffer> = []
  for await (const chunk of stream) chunks.push(chunk)
  return Buffer.concat(chunks).toString()
}

const parsed = (body: string): ReturnType<typeof JSON.parse> => {
  try {
    return JSON.parse(body)
  } catch {
    return undefined
  }
}

const listen = async (server: Server): Promise<string> => {
  server.listen(0, "127.0.0.1")
  await once(server, "listening")
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

const statuses = new Set(["sent", "delivered", "read", "failed"])

/** Starts it. */
export const start = async ({ add }: Recorder) => {
  const scope = Scope.makeUnsafe()
  const api = await Effect.runPromise(Scope.provide(
    CloudApi.make({
      settings: { sentAfter: null, deliveredAfter: 50, readAfter: null, retryAfter: [500], pairLimit: false, lanes: 4 }
    }),
    scope
  ))
  await Effect.runPromise(api.changeNumber(api.identity.numbers[0].id, { throughput: { level: "HIGH" } }))
  const servers: Array<Server> = []
  /** Called once the provider has accepted a call, before the caller learns of it. */
  let onAccepted: ((process: string) => Promise<void>) | undefined
  let postTo: ReadonlyArray<string> = []

  /** Passes a call on as it is, and what comes back as it comes: broken, slow or never. */
  const forward = async (
    incoming: IncomingMessage,
    outgoing: ServerResponse,
    process: string
  ): Promise<void> => {
    const answer = (response: IncomingMessage | undefined, body?: string): void => {
      if (response === undefined) return void incoming.socket.resetAndDestroy()
      if (body === undefined) {
        outgoing.writeHead(response.statusCode!, response.headers)
        response.on("error", () => outgoing.destroy()).pipe(outgoing)
        return
      }
      const { "transfer-encoding": _, ...headers } = response.headers
      outgoing.writeHead(response.statusCode!, { ...headers, "content-length": Buffer.byteLength(body) }).end(body)
    }
    const begun = now()
    const body = await text(incoming)
    const isSend = incoming.method === "POST" && incoming.url!.endsWith("/messages")
    const message = isSend ? parsed(body)?.biz_opaque_callback_data : undefined
    const note = (outcome: "accepted" | "not_sent" | "unknown", id?: string) => {
      if (typeof message !== "string") return
      add({
        kind: "provider_call",
        message_id: message,
        process,
        begun,
        ended: outcome === "unknown" ? null : now(),
        outcome,
        ...(id === undefined ? {} : { provider_message_id: id })
      })
    }
    const asked = request(`${api.url}${incoming.url}`, { method: incoming.method, headers: incoming.headers })
    // whichever comes first: the whole response, its break, or the caller's end
    let isOver = false
    const end = (act: () => void): void => {
      if (isOver) return
      isOver = true
      act()
    }
    const breaks = () =>
      end(() => {
        note("unknown")
        asked.destroy()
        answer(undefined)
      })
    asked.on("error", breaks)
    outgoing.on("close", breaks)
    asked.on("response", (response) => {
      if (message === undefined) return end(() => answer(response))
      void text(response).then(async (body) => {
        const id = response.statusCode === 200 ? parsed(body)?.messages?.[0]?.id : undefined
        if (id !== undefined) await onAccepted?.(process)
        end(() => {
          note(id !== undefined ? "accepted" : parsed(body)?.error === undefined ? "unknown" : "not_sent", id)
          answer(response, body)
        })
      }).catch(breaks)
    })
    asked.end(body)
  }

  /** A gateway for a process. */
  const gateway = (process: string): Promise<string> => {
    const server = createServer({ keepAliveTimeout: 120_000 }, (incoming, outgoing) => {
      outgoing.on("error", () => {})
      void forward(incoming, outgoing, process).catch(() => outgoing.destroy())
    })
    servers.push(server)
    return listen(server)
  }

  /** Where the provider posts: to the next process that takes it. */
  const posts = createServer((incoming, outgoing) => {
    void (async () => {
      const begun = now()
      const body = await text(incoming)
      let answered: { readonly status: number; readonly text: string } | undefined
      for (const base of postTo) {
        if (answered !== undefined && answered.status < 500) break
        answered = await fetch(`${base}${incoming.url}`, {
          method: incoming.method!,
          headers: Object.fromEntries(
            ["content-type", "x-hub-signature-256"].flatMap((name) => {
              const value = incoming.headers[name]
              return typeof value === "string" ? [[name, value]] : []
            })
          ),
          ...(incoming.method === "POST" ? { body } : {}),
          signal: AbortSignal.timeout(10_000)
        }).then(async (response) => ({ status: response.status, text: await response.text() })).catch(() => undefined)
      }
      const ended = answered?.status === 200 ? now() : null
      for (const { changes } of parsed(body)?.entry ?? []) {
        for (const { value } of changes) {
          for (const { biz_opaque_callback_data: message, status } of value?.statuses ?? []) {
            if (typeof message === "string" && statuses.has(status)) {
              add({ kind: "report", message_id: message, status, process: "provider", begun, ended })
            }
          }
        }
      }
      outgoing.writeHead(answered?.status ?? 502).end(answered?.text)
    })().catch(() => outgoing.destroy())
  })
  servers.push(posts)
  const postsUrl = await listen(posts)

  return {
    environment: api.environment,
    gateway,
    /** Adds faults of the simulated Cloud API. */
    fault: (plan: Parameters<typeof api.fault>[0]): Promise<void> => Effect.runPromise(api.fault(plan)),
    /** Removes them. */
    clear: (): Promise<void> => Effect.runPromise(api.clearFaults),
    /** What happens once the provider has accepted a call, before its caller learns of it. */
    whenAccepted: (act: ((process: string) => Promise<void>) | undefined): void => void (onAccepted = act),
    /** How often each recipient was written to. */
    accepted: async (): Promise<(to: string) => number> => {
      const tallies = await Effect.runPromise(api.recipients)
      return (to) => tallies.get(to)?.accepted ?? 0
    },
    /** Has its reports posted to these processes. */
    subscribe: async (urls: ReadonlyArray<string>): Promise<void> => {
      postTo = urls
      const { problem, subscribed } = await Effect.runPromise(
        api.courier.subscribe(`${postsUrl}/providers/whatsapp/webhook`, api.identity.verifyToken)
      )
      if (!subscribed) throw new Error(`the provider's handshake failed: ${problem}`)
    },
    close: async (): Promise<void> => {
      for (const server of servers) {
        server.close()
        server.closeAllConnections()
      }
      await Effect.runPromise(Scope.close(scope, Exit.void))
    }
  }
}

/** The provider of an installation. */
export type Provider = Awaited<ReturnType<typeof start>>
