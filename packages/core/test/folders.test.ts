/**
 * The permitted imports between the folders of `src`. Files beside the folders may be imported by all. A new one needs
 * a reason, like a boundary between packages.
 */
import { assert, it } from "@effect/vitest"
import { readdirSync, readFileSync } from "node:fs"
import { join } from "node:path"

const permitted: Readonly<Record<string, ReadonlyArray<string>>> = {
  // what may need attention is of every part
  alerts: [
    "campaigns",
    "changes",
    "keys",
    "limits",
    "numbers",
    "people",
    "provider",
    "queue",
    "secrets",
    "subscriptions",
    "templates",
    "usage",
    "webhooks",
    "workspaces"
  ],
  audit: ["changes"],
  // a campaign's files are kept while it may send
  campaigns: [
    "contacts",
    "events",
    "keys",
    "limits",
    "media",
    "messages",
    "numbers",
    "provider",
    "queue",
    "secrets",
    "templates",
    "usage"
  ],
  changes: ["audit", "events"],
  // a customer is exported and erased in every part
  contacts: [
    "audit",
    "campaigns",
    "events",
    "inbound",
    "media",
    "messages",
    "numbers",
    "outbox",
    "queue",
    "requests",
    "secrets",
    "webhooks"
  ],
  events: ["inbound", "keys", "messages", "numbers"],
  inbound: ["contacts", "events", "media", "messages", "numbers", "secrets", "templates", "usage"],
  keys: ["numbers", "secrets", "workspaces"],
  limits: ["contacts", "numbers", "workspaces"],
  // a restored copy deletes no file while its queue is held
  media: ["limits", "numbers", "provider", "queue"],
  // a message may be cancelled while it is in the outbox
  messages: [
    "campaigns",
    "contacts",
    "events",
    "inbound",
    "keys",
    "limits",
    "media",
    "numbers",
    "outbox",
    "provider",
    "queue",
    "secrets",
    "templates",
    "usage",
    "workspaces"
  ],
  numbers: ["limits", "provider", "secrets", "templates", "workspaces"],
  outbox: ["messages", "numbers", "provider", "queue"],
  people: ["audit", "limits", "secrets", "workspaces"],
  // a send names its message, and what the provider knows of it
  provider: ["contacts", "media", "messages", "numbers", "templates"],
  queue: ["campaigns", "contacts", "limits", "messages", "numbers"],
  requests: ["changes", "secrets", "templates", "workspaces"],
  secrets: [],
  templates: ["media", "numbers", "provider", "workspaces"],
  usage: ["changes", "contacts", "limits", "messages", "queue", "workspaces"],
  subscriptions: ["events", "webhooks"],
  // alerts tell when the receiver was down
  webhooks: ["alerts", "events", "keys", "limits", "secrets", "usage"],
  // the first start sets up every part
  workspaces: ["limits", "numbers", "people", "provider", "secrets", "templates"]
}

const sources = join(import.meta.dirname, "../src")

const importsOf = (folder: string): ReadonlyArray<string> => {
  const texts = readdirSync(join(sources, folder)).map((file) => readFileSync(join(sources, folder, file), "utf8"))
  const found = texts.flatMap((text) => [...text.matchAll(/ from "\.\.\/([^/"]+)\//g)].map(([, name]) => name!))
  return [...new Set(found)].toSorted()
}

it("folders import only the folders that are listed for them, and each of these", () => {
  const folders = readdirSync(sources, { withFileTypes: true }).filter((entry) => entry.isDirectory())
  const found = Object.fromEntries(folders.map(({ name }) => [name, importsOf(name)]))
  assert.deepStrictEqual(found, { ...permitted })
})
