/** What the simulated Cloud API posts, as its receiver reads it. */
import { assert } from "@effect/vitest"
import { CloudApi } from "@wac/simulator"
import { RecordingReceiver } from "@wac/testkit"
import { Effect } from "effect"
import { TestClock } from "effect/testing"
import type { Json } from "./CloudApiCalls.ts"

/** Answers the handshake, and every post with 200. */
export const willing = (request: RecordingReceiver.ReceivedRequest): RecordingReceiver.Answer =>
  RecordingReceiver.reply(200, {
    body: new URL(request.target, "http://receiver").searchParams.get("hub.challenge") ?? ""
  })

export const subscribed = Effect.fnUntraced(function*(options: CloudApi.Options = {}) {
  const receiver = yield* RecordingReceiver.make
  yield* receiver.answerWith(willing)
  const api = yield* CloudApi.make({ ...options, callback: receiver.url })
  return { api, receiver }
})

interface Change {
  readonly field: string
  readonly value: Json
}

export const changesOf = (requests: ReadonlyArray<RecordingReceiver.ReceivedRequest>): ReadonlyArray<Change> =>
  requests.flatMap(({ body }) => {
    const post = JSON.parse(Buffer.from(body).toString()) as {
      readonly object: string
      readonly entry: ReadonlyArray<{ readonly id: string; readonly changes: ReadonlyArray<Change> }>
    }
    assert.strictEqual(post.object, "whatsapp_business_account")
    return post.entry.flatMap(({ changes }) => changes)
  })

export const statusesOf = (requests: ReadonlyArray<RecordingReceiver.ReceivedRequest>): ReadonlyArray<Json> =>
  changesOf(requests).flatMap(({ value }) => value.statuses ?? [])

export const later = (api: CloudApi.CloudApi, time: "250 millis" | "2 seconds" | "10 seconds") =>
  Effect.andThen(TestClock.adjust(time), api.courier.settled)
