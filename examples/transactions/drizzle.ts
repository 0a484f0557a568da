/** An order and its message in one transaction, with Drizzle. */
import type { NodePgDatabase } from "drizzle-orm/node-postgres"
import { pgTable, text } from "drizzle-orm/pg-core"
import type { Wac } from "wac"
import type { Order } from "./pg.ts"

const orders = pgTable("orders", { id: text().primaryKey(), phone: text().notNull() })

export const placeOrder = (wac: Wac, db: NodePgDatabase, order: Order): Promise<void> =>
  db.transaction(async (tx) => {
    await tx.insert(orders).values(order)
    await wac.messages.enqueue(
      { to: order.phone, type: "template", template: { name: "hello_world", language: "en_US" } },
      { idempotencyKey: `order-${order.id}`, tx }
    )
  })
