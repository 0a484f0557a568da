/**
 * The files of a customer whom an operator erases, if the servers keep files in an object store.
 */
import { assert, it } from "@effect/vitest"
import { Behaviour } from "@wac/sandbox"
import * as S3Server from "@wac/testbed/S3Server"
import { Effect } from "effect"
import { until } from "../checks.ts"
import { resultOf, wac } from "../commandLine.ts"
import { hello, ready, send, start } from "../harness.ts"
import { freshDatabase, masterKey, postgres, sql } from "../processes.ts"

/** A database whose server has stored a customer's file in an object store, and has stopped. */
const storedFile = Effect.gen(function*() {
  const store = yield* Effect.acquireRelease(
    Effect.promise(() => S3Server.start()),
    ({ stop }) => Effect.promise(stop)
  )
  const storage = { DATABASE_URL: yield* Effect.flatMap(postgres, freshDatabase), WAC_MASTER_KEY: masterKey() }
  const environment = {
    ...storage,
    MEDIA_STORE: `s3://${store.bucket}/wac`,
    AWS_ENDPOINT_URL: store.endpoint,
    AWS_ACCESS_KEY_ID: "an-id",
    AWS_SECRET_ACCESS_KEY: "a-secret"
  }
  const objects = Effect.promise(store.keys)
  const files = sql<{ readonly state: string }>(storage.DATABASE_URL, "select state from wac.media")
  const customer = Behaviour.numbers.picturing
  yield* Effect.scoped(Effect.gen(function*() {
    const server = yield* ready({ environment })
    assert.strictEqual((yield* send(server, hello(customer))).status, 200)
    // the object is there before the download has ended, and a download that a stop interrupts leaves none
    yield* until(files, (rows) => rows.some(({ state }) => state === "stored"))
  }))
  return { storage, environment, objects, files, customer }
})

it.live("a server deletes the files of a customer whom a command erased that did not know of its object store", () =>
  Effect.gen(function*() {
    const { customer, environment, files, objects, storage } = yield* storedFile
    assert.include(resultOf(yield* wac(storage)(`erase ${customer} --json`)), { files: 1 })
    assert.lengthOf(yield* objects, 1)
    assert.lengthOf(yield* files, 1)
    yield* start({ environment })
    yield* until(objects, ({ length }) => length === 0)
    yield* until(files, ({ length }) => length === 0)
  }).pipe(Effect.scoped))

it.live("a command in a restored copy deletes no files of its object store before a server has started", () =>
  Effect.gen(function*() {
    const { customer, environment, files, objects } = yield* storedFile
    const erased = yield* wac({ ...environment, WAC_RESTORED: "true" })(`erase ${customer} --json`)
    assert.include(JSON.parse(erased.stdout), { files: 1 })
    assert.include(erased.stderr, "files stay in the object store until a person releases the queue")
    assert.lengthOf(yield* objects, 1)
    assert.deepStrictEqual(yield* files, [{ state: "removed" }])
  }).pipe(Effect.scoped))
