/** An order and its message in one transaction, with postgres.js. */
import type { Sql } from "postgres"
import type { Wac } from "wac"
import type { Order } from "./pg.ts"

export const placeOrder = (wac: Wac, sql: Sql, { id, phone }: Order): Promise<unknown> =>
  sql.begin(async (tx) => {
    await tx`insert into orders (id, phone) values (${id}, ${phone})`
    await wac.messages.enqueue(
      { to: phone, type: "template", template: { name: "hello_world", language: "en_US" } },
      { idempotencyKey: `order-${id}`, tx }
    )
  })
