/** An order and its message in one transaction, with Kysely. */
import type { Kysely } from "kysely"
import type { Wac } from "wac"
import type { Order } from "./pg.ts"

interface Tables {
  readonly orders: Order
}

export const placeOrder = (wac: Wac, db: Kysely<Tables>, order: Order): Promise<void> =>
  db.transaction().execute(async (tx) => {
    await tx.insertInto("orders").values(order).execute()
    await wac.messages.enqueue(
      { to: order.phone, type: "template", template: { name: "hello_world", language: "en_US" } },
      { idempotencyKey: `order-${order.id}`, tx }
    )
  })
