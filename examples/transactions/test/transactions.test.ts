/**
 * The examples, and what each library's transactions do otherwise, on a PostgreSQL server.
 */
import * as PostgresServer from "@wac/testbed/PostgresServer"
import { drizzle } from "drizzle-orm/node-postgres"
import { drizzle as drizzlePostgresJs } from "drizzle-orm/postgres-js"
import { CamelCasePlugin, Kysely, PostgresDialect } from "kysely"
import { mkdtemp, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import pg from "pg"
import postgresJs from "postgres"
import { afterAll, assert, beforeAll, describe, it } from "vitest"
import {
  createWac,
  type EnqueuedMessage,
  memory,
  pglite,
  postgres,
  sandbox,
  type Transaction,
  type Wac,
  WacError
} from "wac"
import * as Drizzle from "../drizzle.ts"
import * as KyselyExample from "../kysely.ts"
import { type Order, placeOrder } from "../pg.ts"
import * as PostgresJs from "../postgres.ts"

let server: PostgresServer.PostgresServer
let wac: Wac
let pool: pg.Pool
let sql: postgresJs.Sql
let kysely: Kysely<{ orders: Order }>

beforeAll(async () => {
  server = await PostgresServer.start("fsync=off")
  wac = await createWac({ storage: postgres(server.url), provider: sandbox(), masterKey: new Uint8Array(32) })
  pool = new pg.Pool({ connectionString: server.url, max: 3 })
  sql = postgresJs(server.url, { max: 3, onnotice: () => {} })
  kysely = new Kysely({ dialect: new PostgresDialect({ pool }) })
  await pool.query("create table orders (id text primary key, phone text not null)")
}, 120_000)

afterAll(async () => {
  await sql?.end()
  await pool?.end()
  await wac?.close()
  await server?.remove()
})

const hello = (to: string) => ({ to, type: "template", template: { name: "hello_world", language: "en_US" } }) as const

let last = 0
const fresh = (): Order => {
  last++
  return { id: `${last}`, phone: `+4915110${last.toString().padStart(6, "0")}` }
}

const until = async <A>(look: () => Promise<A | undefined>): Promise<A> => {
  for (let tries = 0; tries < 400; tries++) {
    const found = await look()
    if (found !== undefined) return found
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
  throw new Error("it never came")
}

const messagesTo = async (to: string) => {
  const found = []
  for await (const message of wac.messages.list({ to })) found.push(message)
  return found
}

const failure = async (
  promise: Promise<unknown>
): Promise<Error & { readonly code?: unknown; readonly param?: unknown; readonly reason?: unknown }> => {
  try {
    await promise
  } catch (error) {
    return error as Error
  }
  throw new Error("it succeeded")
}

class Undone extends Error {}

/** Runs something in a transaction of a library, which is rolled back if it rejects. */
type Within = (run: (tx: Transaction) => Promise<unknown>) => Promise<unknown>

const withPg = async (run: (client: pg.PoolClient) => Promise<unknown>) => {
  const client = await pool.connect()
  try {
    await client.query("begin")
    await run(client)
    await client.query("commit")
  } catch (error) {
    await client.query("rollback")
    throw error
  } finally {
    client.release()
  }
}

const libraries: ReadonlyArray<readonly [string, (order: Order) => Promise<unknown>, Within]> = [
  ["pg", (order) => placeOrder(wac, pool, order), withPg],
  ["postgres.js", (order) => PostgresJs.placeOrder(wac, sql, order), (run) => sql.begin(run)],
  ["Drizzle", (order) => Drizzle.placeOrder(wac, drizzle(pool), order), (run) => drizzle(pool).transaction(run)],
  [
    "Drizzle over postgres.js",
    (order) => Drizzle.placeOrder(wac, drizzlePostgresJs(sql) as never, order),
    (run) => drizzlePostgresJs(sql).transaction(run)
  ],
  ["Kysely", (order) => KyselyExample.placeOrder(wac, kysely, order), (run) => kysely.transaction().execute(run)],
  [
    "Kysely with names in camel case",
    (order) => KyselyExample.placeOrder(wac, kysely.withPlugin(new CamelCasePlugin()), order),
    (run) => kysely.withPlugin(new CamelCasePlugin()).transaction().execute(run)
  ],
  [
    "a function",
    (order) => placeOrder(wac, pool, order),
    (run) => withPg((client) => run(async (text, params) => (await client.query(text, [...params])).rows))
  ]
]

describe.each(libraries)("%s", (_, place, within) => {
  it("sends the message of an order that is committed, under the id that it returned", async () => {
    const order = fresh()
    await place(order)
    const [message] = await until(async () => {
      const found = await messagesTo(order.phone)
      return found.length > 0 && found[0]!.status !== "queued" && found[0]!.status !== "sending" ? found : undefined
    })
    assert.include(["sent", "delivered", "read"], message!.status)
    // the order exists: nothing is done twice
    await failure(place(order))
    let again: EnqueuedMessage | undefined
    await within(async (tx) => {
      again = await wac.messages.enqueue(hello(order.phone), { idempotencyKey: `order-${order.id}`, tx })
    })
    assert.deepStrictEqual(again, {
      status: "queued",
      messageId: message!.messageId,
      workspaceId: wac.id,
      sendAt: null
    })
    assert.lengthOf(await messagesTo(order.phone), 1)
  })

  it("sends nothing if the transaction is rolled back", async () => {
    const order = fresh()
    const error = await failure(within(async (tx) => {
      await wac.messages.enqueue(hello(order.phone), { idempotencyKey: `order-${order.id}`, tx })
      throw new Undone()
    }))
    assert.instanceOf(error, Undone)
    const { rows } = await pool.query("select from wac.outbox where key = $1", [`order-${order.id}`])
    assert.lengthOf(rows, 0)
  })

  it("a different message under a key is a conflict", async () => {
    const order = fresh()
    await place(order)
    const error = await failure(
      within((tx) => wac.messages.enqueue(hello("+4915119999999"), { idempotencyKey: `order-${order.id}`, tx }))
    )
    assert.instanceOf(error, WacError)
    assert.deepInclude(error, { code: "idempotency_conflict", reason: "payload_mismatch" })
  })
})

describe("what is wrong", () => {
  it("what is known before is refused before the transaction is asked", async () => {
    let asked = 0
    const tx = async () => {
      asked++
      return []
    }
    const { phone } = fresh()
    const tried = (message: object, options: object = {}) =>
      failure(wac.messages.enqueue(message as never, { idempotencyKey: "one", tx, ...options }))
    assert.deepInclude(await tried({ to: phone, type: "text" }), { code: "invalid_body", param: "text" })
    assert.deepInclude(await tried(hello(phone), { sendAt: "soon" }), { param: "sendAt" })
    assert.deepInclude(await tried(hello(phone), { idempotencyKey: "a b" }), { param: "idempotencyKey" })
    assert.deepInclude(await tried(hello(phone), { within: 1 }), { param: "within" })
    assert.strictEqual(asked, 0)
    assert.deepInclude(await tried(hello(phone)), { code: "invalid_body", param: "tx" })
    assert.strictEqual(asked, 1)
  })

  it.each<readonly [string, () => unknown]>([
    ["nothing that runs statements", () => ({})],
    ["a pool of pg", () => pool],
    ["a pool of postgres.js", () => sql],
    ["a database of Drizzle", () => drizzle(pool)],
    ["a database of Kysely", () => kysely]
  ])("%s is no transaction", async (_, tx) => {
    const error = await failure(wac.messages.enqueue(hello(fresh().phone), { tx: tx() as Transaction }))
    assert.deepInclude(error, { code: "invalid_body", param: "tx" })
  })

  it("no transaction reaches a storage in the process", async () => {
    const directory = await mkdtemp(join(tmpdir(), "wac-transactions-"))
    for (const storage of [memory(), pglite(directory)]) {
      await using other = await createWac({ storage, provider: sandbox() })
      const error = await failure(other.messages.enqueue(hello(fresh().phone), { tx: async () => [] }))
      assert.deepInclude(error, { code: "invalid_body", param: "tx" })
    }
    await rm(directory, { recursive: true })
  })

  it("a message that is refused after the commit is failed, with its event", async () => {
    const { phone } = fresh()
    const key = "unreadable"
    const calls: ReadonlyArray<readonly [object, string]> = [
      [{ to: phone, type: "text", text: { bodi: "x" } }, "invalid_body"],
      [{ ...hello(phone), template: { name: "none_such", language: "en_US" } }, "template_not_found"],
      [{ ...hello(phone), from: "+15550000000" }, "sender_not_available"],
      [{ to: 7, type: "carrier pigeon" }, "invalid_body"]
    ]
    for (const [i, [message, expected]] of calls.entries()) {
      const { rows: [{ id }] } = await pool.query("select wac.enqueue($1, $2, $3) as id", [
        wac.id,
        `${key}-${i}`,
        message
      ])
      const failed = await until(() => wac.messages.get(id).catch(() => undefined)) as {
        status: string
        error: { code: string; reason: string }
      }
      assert.strictEqual(failed.status, "failed")
      assert.include([failed.error.code, failed.error.reason], expected)
      const events = []
      for await (const event of wac.events.list({ type: "message.failed" })) events.push(event)
      assert.include(JSON.stringify(events), id)
    }
  })

  it("errors of the library stay as they are", async () => {
    const client = await pool.connect()
    try {
      await client.query("begin")
      await failure(client.query("select 1 / 0"))
      const error = await failure(wac.messages.enqueue(hello(fresh().phone), { tx: client }))
      assert.strictEqual(error.code, "25P02")
    } finally {
      await client.query("rollback")
      client.release()
    }
  })

  it("what Prisma hands over is known by its shape", async () => {
    const calls: Array<ReadonlyArray<unknown>> = []
    const tx = {
      // transactions of Prisma 7 may contain others
      $transaction: () => Promise.reject(new Error("unexpected")),
      $queryRawUnsafe: async (...given: ReadonlyArray<unknown>) => {
        calls.push(given)
        return [{ id: "msg_one" }]
      }
    }
    const { phone } = fresh()
    const sendAt = "2030-01-01T00:00:00.000Z"
    const { messageId } = await wac.messages.enqueue(hello(phone), { idempotencyKey: "p", tx, sendAt })
    assert.strictEqual(messageId, "msg_one")
    assert.deepStrictEqual(calls[0]!.slice(1), [wac.id, "p", JSON.stringify(hello(phone)), sendAt, null])
    const state = "23505"
    for (const meta of [{ code: state }, { driverAdapterError: { cause: { originalCode: state } } }]) {
      const conflict = Object.assign(new Error("Raw query failed"), { code: "P2010", meta })
      const error = await failure(
        wac.messages.enqueue(hello(phone), { tx: { $queryRawUnsafe: () => Promise.reject(conflict) } })
      )
      assert.deepInclude(error, { code: "idempotency_conflict" })
    }
    const client = { ...tx, $connect: () => Promise.resolve() }
    assert.deepInclude(await failure(wac.messages.enqueue(hello(phone), { tx: client })), { code: "invalid_body" })
  })
})

it("transactions over the pool that wac shares commit, even if they hold all of its connections", async () => {
  // without a listener to errors: none comes, also not from statements that close() gives up
  const shared = new pg.Pool({ connectionString: server.url, max: 3 })
  const own = await createWac({
    storage: postgres({ pool: shared, schema: "shared" }),
    provider: sandbox(),
    masterKey: new Uint8Array(32)
  })
  try {
    const second = await own.workspaces.create({ name: "Second", phoneNumber: "+15550000002" })
    const begun = Promise.withResolvers<void>()
    let open = 0
    const placed = await Promise.all(Array.from({ length: 3 }, async (_, n) => {
      const client = await shared.connect()
      try {
        await client.query("begin")
        if (++open === 3) begun.resolve()
        await begun.promise
        const { messageId } = await own.messages.enqueue(hello(fresh().phone), {
          idempotencyKey: `shared-${n}`,
          tx: client
        })
        await own.workspace(second.id).messages.enqueue(hello(fresh().phone), {
          idempotencyKey: `shared-${n}`,
          tx: client
        })
        await client.query("commit")
        return messageId
      } finally {
        client.release()
      }
    }))
    assert.strictEqual(new Set(placed).size, 3)
  } finally {
    await own.close()
    await shared.end()
  }
})
