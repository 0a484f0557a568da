/** An order and its message in one transaction, with `pg`. */
import type pg from "pg"
import type { Wac } from "wac"

export interface Order {
  readonly id: string
  readonly phone: string
}

export const placeOrder = async (wac: Wac, pool: pg.Pool, { id, phone }: Order): Promise<void> => {
  const client = await pool.connect()
  try {
    await client.query("begin")
    await client.query("insert into orders (id, phone) values ($1, $2)", [id, phone])
    await wac.messages.enqueue(
      { to: phone, type: "template", template: { name: "hello_world", language: "en_US" } },
      { idempotencyKey: `order-${id}`, tx: client }
    )
    await client.query("commit")
  } catch (error) {
    await client.query("rollback")
    throw error
  } finally {
    client.release()
  }
}
