/**
 * A page that listens to `/internal/stream`.
 */
import { assert } from "@effect/vitest"
import { Effect } from "effect"

/** Opens the stream as a page would; gives what reads until a topic was told, or to its end. */
export const listen = (url: string, headers: { readonly [name: string]: string }) =>
  Effect.gen(function*() {
    const response = yield* Effect.acquireRelease(
      Effect.promise(() => {
        const leaving = new AbortController()
        return fetch(`${url}/internal/stream`, { headers, signal: leaving.signal }).then((response) => ({
          response,
          leaving
        }))
      }),
      ({ leaving }) => Effect.sync(() => leaving.abort())
    )
    const { body, headers: answered, status } = response.response
    assert.deepStrictEqual([status, answered.get("content-type"), answered.get("cache-control")], [
      200,
      "text/event-stream",
      "no-store"
    ])
    const reader = body!.pipeThrough(new TextDecoderStream()).getReader()
    let text = ""
    const told = new Set<string>()
    const read = Effect.promise(() => reader.read())
    const until = (topic: string): Effect.Effect<void> =>
      Effect.suspend(() =>
        told.delete(topic) ? Effect.void : Effect.flatMap(read, ({ done, value }) => {
          text += value ?? ""
          const whole = text.lastIndexOf("\n\n") + 2
          for (const [, data] of text.slice(0, whole).matchAll(/event: change\ndata: (.*)\n\n/g)) {
            for (const one of JSON.parse(data!).topics) told.add(one)
          }
          text = text.slice(whole)
          return done ? Effect.die(new Error(`the stream ended before ${topic}`)) : until(topic)
        })
      )
    const end: Effect.Effect<void> = Effect.flatMap(read, ({ done }) => done ? Effect.void : end)
    // whoever has read the beginning watches
    yield* read
    return { until, end }
  })
