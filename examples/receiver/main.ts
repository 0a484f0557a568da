// A receiver of webhooks, which keeps each event once and works on it after its answer: `node main.ts`
import { webhook } from "@wac/verifier/express"
import express from "express"
import type { AddressInfo } from "node:net"
import { DatabaseSync } from "node:sqlite"
import { work } from "./work.ts"

const { DATABASE = "inbox.db", PORT = "3000", WEBHOOK_SECRET } = process.env

const database = new DatabaseSync(DATABASE)
database.exec(`
  create table if not exists inbox (id text primary key, event text not null, done integer default 0);
  create table if not exists delays (id text primary key, tries integer not null, due integer not null);
`)
const keep = database.prepare("insert into inbox (id, event) values (?, ?) on conflict do nothing")
const next = database.prepare(`select i.id, i.event from inbox i left join delays d on d.id = i.id
  where i.done = 0 and coalesce(d.due, 0) <= unixepoch() order by i.rowid limit 1`)
const finish = database.prepare("update inbox set done = 1 where id = ?")
// 1 s, 2 s, 4 s, up to 17 min: what has many tries, a person should look at
const putOff = database.prepare(`insert into delays values (?, 1, unixepoch() + 1)
  on conflict do update set tries = tries + 1, due = unixepoch() + (1 << min(tries, 10))`)

/** Works on what is due, one after the other. An event whose work fails is put off, so it does not block the others. */
const drain = async (): Promise<void> => {
  for (let row = next.get(); row !== undefined; row = next.get()) {
    const id = String(row.id)
    try {
      await work(JSON.parse(String(row.event)))
      finish.run(id)
    } catch (error) {
      putOff.run(id)
      console.error(id, error)
    }
  }
}
let draining = Promise.resolve()
const wake = (): void => {
  draining = draining.then(drain).catch(console.error)
}
wake() // what a crash left
const timer = setInterval(wake, 1000)

const app = express()
// 200 as soon as the event is kept, well within 5 seconds; a repetition is kept already, and answered the same
app.post(
  "/webhook",
  webhook({ secret: WEBHOOK_SECRET }, (event) => {
    keep.run(event.id, JSON.stringify(event))
    wake()
  })
)

const server = app.listen(Number(PORT), "127.0.0.1", () => {
  console.log(`listening on http://127.0.0.1:${(server.address() as AddressInfo).port}`)
})
process.once("SIGTERM", () => {
  clearInterval(timer)
  server.close(() => draining.finally(() => database.close()))
})
