/**
 * A program that places orders, each with a message in one transaction of its library. It kills itself at one of them, at
 * a given point. What is done already is not done again.
 */
import type { ClientModule } from "@wac/testbed/PrismaClient"
import { drizzle } from "drizzle-orm/node-postgres"
import { Kysely, PostgresDialect, sql as kyselySql } from "kysely"
import { appendFileSync, readFileSync } from "node:fs"
import { flushCompileCache } from "node:module"
import pg from "pg"
import postgresJs from "postgres"
import { createWac, postgres, type Transaction } from "wac"
import { noted } from "./noted.ts"

const [database = "", masterKey = "", sent = "", rolledBack = "", orders = "", victim = "", point = "", prisma] =
  process
    .argv.slice(2)

const wac = await createWac({ storage: postgres(database), provider: noted(sent), masterKey })
const pool = new pg.Pool({ connectionString: database, max: 2 })

// a process that kills itself keeps nothing by itself
flushCompileCache()

const die = (): void => void process.kill(process.pid, "SIGKILL")

/** Runs a transaction: `insert` places the order in it. */
type Within = (run: (tx: Transaction, insert: (id: string) => Promise<unknown>) => Promise<void>) => Promise<unknown>

/** Prisma's client, where it was installed. */
const prismaClient: ClientModule | undefined = prisma === undefined ? undefined : await import(prisma)

const text = "insert into orders (id) values ($1)"

const within: { readonly [library: string]: () => Within } = {
  pg: () => async (run) => {
    const client = await pool.connect()
    try {
      await client.query("begin")
      await run(client, (id) => client.query(text, [id]))
      await client.query("commit")
    } catch (error) {
      await client.query("rollback")
      throw error
    } finally {
      client.release()
    }
  },
  "postgres.js": () => {
    const sql = postgresJs(database, { max: 2, onnotice: () => {} })
    return (run) => sql.begin((tx) => run(tx, (id) => tx`insert into orders (id) values (${id})`))
  },
  drizzle: () => {
    const db = drizzle(pool)
    return (run) => db.transaction((tx) => run(tx, (id) => tx.execute(`insert into orders (id) values ('${id}')`)))
  },
  kysely: () => {
    const db = new Kysely<object>({ dialect: new PostgresDialect({ pool }) })
    return (run) =>
      db.transaction().execute((tx) => run(tx, (id) => kyselySql`insert into orders (id) values (${id})`.execute(tx)))
  },
  ...(prismaClient !== undefined && {
    prisma: () => {
      const client = prismaClient.clientOf(database)
      return (run) => client.$transaction((tx) => run(tx, (id) => tx.order.create({ data: { id } })))
    }
  })
}

const transactions = new Map(Object.entries(within).map(([library, open]) => [library, open()]))

const done = new Set([
  ...(await pool.query<{ id: string }>("select id from orders")).rows.map(({ id }) => id),
  ...readFileSync(rolledBack, "utf8").split("\n")
])

class RolledBack extends Error {}

for (const order of readFileSync(orders, "utf8").split(",")) {
  const [id = "", phone = "", end, library = ""] = order.split(" ")
  if (done.has(id)) continue
  const dieAt = (here: string) => {
    if (id === victim && point === here) die()
  }
  dieAt("begin")
  try {
    await transactions.get(library)!(async (tx, insert) => {
      await insert(id)
      dieAt("insert")
      await wac.messages.enqueue(
        { to: phone, type: "template", template: { name: "hello_world", language: "en_US" } },
        { idempotencyKey: `order-${id}`, tx }
      )
      dieAt("enqueue")
      if (end === "rollback") throw new RolledBack()
      // somewhere about the commit
      if (id === victim && point === "commit") setTimeout(die, Math.random() * 3)
    })
  } catch (error) {
    if (!(error instanceof RolledBack)) throw error
    appendFileSync(rolledBack, `${id}\n`)
  }
  if (id === victim) setTimeout(die, Math.random() * 50)
}

process.stdout.write("all placed\n")
