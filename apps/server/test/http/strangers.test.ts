/**
 * What hundreds of connections of strangers may cost: memory that stays within bounds, whether they take their answers
 * or not. How long others wait beside them is measured by `npm run bench -- strangers`.
 */
import { assert, describe, it } from "@effect/vitest"
import * as Extent from "@wac/testbed/Extent"
import { Effect, Exit, Scope } from "effect"
import { Agent, request } from "node:http"
import { connect } from "node:net"
import { memoryOf, mostDuring } from "../memory.ts"
import { start } from "../processes.ts"

/** How long each kind of stranger stays, in milliseconds. */
const stay = Extent.of(1000, 20_000)

const connections = 300

/** Those who ask for everything at once and take no answer. */
const deaf = 40

const mebibyte = 1024 * 1024

/** What a stranger can ask for without being known. */
const kinds: ReadonlyArray<readonly [name: string, method: string, path: string, body?: unknown]> = [
  ["the documentation", "GET", "/docs"],
  ["the OpenAPI document", "GET", "/openapi.json"],
  ["the page of the set-up", "GET", "/dashboard/setup"],
  ["signing in", "POST", "/internal/session", { email: "owner@example.com", password: "guessed password" }],
  ["a send that is refused", "POST", "/v1/messages", { to: "+15551234567", type: "text", text: { body: "x" } }]
]

const headers = {
  "content-type": "application/json",
  "sec-fetch-site": "same-origin",
  authorization: `Bearer wac_live_${"x".repeat(36)}`
}

/** So many connections, each of which asks again as soon as it has its answer; gives the statuses. */
const ask = async (url: string, [, method, path, body]: typeof kinds[number], count: number, millis: number) => {
  const agent = new Agent({ keepAlive: true, maxSockets: count })
  const statuses = new Set<number | string>()
  const until = performance.now() + millis
  const once = () =>
    new Promise<void>((resolve) => {
      const failed = (error: NodeJS.ErrnoException) => {
        statuses.add(error.code ?? error.message)
        resolve()
      }
      request(url + path, { method, agent, headers }, (response) => {
        statuses.add(response.statusCode!)
        response.resume().on("end", resolve).on("error", failed)
      }).on("error", failed).end(body === undefined ? undefined : JSON.stringify(body))
    })
  const caller = async () => {
    do await once()
    while (performance.now() < until)
  }
  await Promise.all(Array.from({ length: count }, caller))
  agent.destroy()
  return statuses
}

/** Connections that ask as much as they can write, and read nothing. */
const askDeafly = (url: string, path: string, millis: number) =>
  new Promise<void>((resolve) => {
    const { hostname, port } = new URL(url)
    const requests = Buffer.from(`GET ${path} HTTP/1.1\r\nHost: localhost\r\n\r\n`.repeat(2000))
    const sockets = Array.from({ length: deaf }, () => {
      const socket = connect(Number(port), hostname)
      const more = () => {
        while (socket.writable && socket.write(requests)) { /* until it takes no more */ }
      }
      return socket.on("connect", more).on("drain", more).on("error", () => {}).pause()
    })
    setTimeout(() => {
      for (const socket of sockets) socket.destroy()
      resolve()
    }, millis)
  })

describe("strangers", () => {
  it.live(`${connections} connections of strangers cost less than 100 MB of memory, whatever they request`, () =>
    Effect.gen(function*() {
      const scope = yield* Scope.make()
      const server = yield* Scope.provide(
        start({ DATABASE_URL: "memory:", LOG_FORMAT: "pretty", LOG_LEVEL: "warn" }),
        scope
      )
      const allowed: { readonly [path: string]: ReadonlyArray<number> } = {
        "/internal/session": [401, 429],
        "/v1/messages": [401]
      }
      const growths: Array<string> = []
      // as busy as it ever is on a few
      for (const kind of kinds) yield* Effect.promise(() => ask(server.url, kind, 4, 300))
      // of each kind by itself: how soon V8 gives back what the kinds before left to be collected is its own affair
      for (const kind of kinds) {
        const [name, , path] = kind
        const before = memoryOf(server)
        const asked = ask(server.url, kind, connections, stay)
        const most = yield* Effect.promise(() => mostDuring(server, asked))
        for (const status of yield* Effect.promise(() => asked)) {
          assert.include(allowed[path] ?? [200], status, name)
        }
        growths.push(`${name}: ${Math.round((most - before) / mebibyte)}`)
      }
      for (const path of ["/openapi.json", "/dashboard/setup", "/v1/templates"]) {
        const before = memoryOf(server)
        const most = yield* Effect.promise(() => mostDuring(server, askDeafly(server.url, path, stay)))
        growths.push(`${path}, not read: ${Math.round((most - before) / mebibyte)}`)
      }
      assert.isBelow(Math.max(...growths.map((line) => Number(line.split(": ")[1]))), 100, growths.join(", "))
      yield* Scope.close(scope, Exit.void)
    }).pipe(Effect.scoped))
})
