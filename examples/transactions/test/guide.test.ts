/**
 * The guide's statements and programs, word for word.
 */
import * as PostgresServer from "@wac/testbed/PostgresServer"
import { drizzle } from "drizzle-orm/node-postgres"
import { pgTable, text } from "drizzle-orm/pg-core"
import { Kysely, PostgresDialect } from "kysely"
import { readFileSync } from "node:fs"
import pg from "pg"
import postgresJs from "postgres"
import { afterAll, assert, beforeAll, it } from "vitest"
import { createWac, postgres, sandbox, type Wac } from "wac"

const guide = readFileSync(new URL("../../../docs/guides/transactions.md", import.meta.url), "utf8")

const blocksOf = (language: string): ReadonlyArray<string> =>
  [...guide.matchAll(new RegExp(`^\`\`\`${language}[^\\n]*\\n(.*?)^\`\`\`$`, "gms"))].map(([, code]) => code!)

let server: PostgresServer.PostgresServer
let wac: Wac
let pool: pg.Pool
beforeAll(async () => {
  server = await PostgresServer.start("fsync=off")
  wac = await createWac({ storage: postgres(server.url), provider: sandbox(), masterKey: new Uint8Array(32) })
  pool = new pg.Pool({ connectionString: server.url })
  await pool.query("create table orders (id text primary key, phone text not null)")
}, 120_000)
afterAll(async () => {
  await pool?.end()
  await wac?.close()
  await server?.remove()
})

const arrived = async (key: string) => {
  for (let tries = 0; tries < 400; tries++) {
    const { rows } = await pool.query<{ status: string }>(
      "select m.status from wac.messages m join wac.outbox o on o.message_id = m.id where o.key = $1",
      [key]
    )
    if (rows.length > 0 && !["queued", "sending"].includes(rows[0]!.status)) return rows[0]!.status
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
  throw new Error(`${key} was never sent`)
}

const AsyncFunction = (async () => {}).constructor as new(...given: ReadonlyArray<string>) => (
  ...given: ReadonlyArray<unknown>
) => Promise<void>

it("each program of the guide places an order whose message is sent", async () => {
  const blocks = blocksOf("ts")
  assert.lengthOf(blocks, 4)
  const sql = postgresJs(server.url)
  const client = await pool.connect()
  const orders = pgTable("orders", { id: text().primaryKey(), phone: text().notNull() })
  try {
    for (const [i, code] of blocks.entries()) {
      const order = { id: `guide-${i}`, phone: `+4915112345${i}00` }
      const db = code.includes("insertInto")
        ? new Kysely({ dialect: new PostgresDialect({ pool }) })
        : drizzle(pool)
      await new AsyncFunction("wac", "sql", "client", "db", "orders", "order", code)(
        wac,
        sql,
        client,
        db,
        orders,
        order
      )
      assert.include(["sent", "delivered", "read"], await arrived(`order-${order.id}`))
    }
  } finally {
    client.release()
    await sql.end()
  }
})

it("the statements of the guide enqueue a message, and grant what is needed and no more", async () => {
  const [enqueue, grants, ...others] = blocksOf("sql")
  assert.lengthOf(others, 0)
  await pool.query(enqueue!)
  assert.include(["sent", "delivered", "read"], await arrived("order-1042"))
  await pool.query("revoke execute on all functions in schema wac from public")
  const statements = grants!.split("\n").filter((line) => line !== "")
  const client = await pool.connect()
  try {
    for (const [i, statement] of statements.entries()) {
      if (i > 0) {
        // an application's own table is not the guide's to grant
        await client.query("delete from orders; grant insert on orders to shop")
        await client.query("set role shop")
        const failed = await client.query(enqueue!).then(
          () => false,
          () => true
        )
        assert.isTrue(failed, statement)
        await client.query("rollback")
        await client.query("reset role")
      }
      await client.query(statement)
    }
    await client.query("set role shop")
    // the key was used for the same message, so this is the same one
    await client.query(enqueue!)
    await client.query("reset role")
  } finally {
    client.release()
  }
})
