/**
 * The command menu, which leads by keyboard to every page, to the thing with an identifier, and to what a search finds.
 */
import { Autocomplete } from "@base-ui/react/autocomplete"
import { useNavigate } from "@tanstack/react-router"
import { useEffect, useState } from "react"
import { messageOf } from "../ui/Failure.tsx"
import { Icon, type IconName } from "../ui/Icon.tsx"
import { customerOf } from "../ui/Sought.ts"
import { kindOf } from "../ui/Things.tsx"
import type { Command } from "./Command.ts"
import { field, FieldLine, type Typed } from "./CommandField.tsx"
import { notFoundText, useCommandSearch } from "./CommandSearch.ts"
import { isOfChannel, places } from "./Places.ts"

const everyCommand: ReadonlyArray<Command> = [
  ...places.flatMap((group) => group.places.map(({ icon, name, to }): Command => ({ name, icon, to }))),
  { name: "Send a message", icon: "arrow", to: "/messages/new" },
  { name: "New campaign", icon: "campaign", to: "/campaigns/new" },
  { name: "Requests that were refused", icon: "list", to: "/requests", search: { refused: "yes" } },
  { name: "Create an API key", icon: "key", to: "/api-keys", search: { dialog: "create" } },
  { name: "Messages that failed", icon: "message", to: "/messages", search: { status: "failed" } },
  { name: "Messages that are queued", icon: "clock", to: "/messages", search: { status: "queued" } },
  { name: "Deliveries that are exhausted", icon: "delivery", to: "/deliveries", search: { status: "exhausted" } },
  { name: "Deliveries that are held", icon: "delivery", to: "/deliveries", search: { status: "held" } },
  { name: "Events of the last hour", icon: "event", to: "/events", search: { since: "1" } },
  { name: "Send a test event", icon: "webhook", to: "/settings/webhook" },
  { name: "Check a signature", icon: "shield", to: "/settings/webhook" },
  { name: "Pause the webhook", icon: "pause", to: "/settings/webhook", search: { dialog: "pause" } },
  { name: "Resume the webhook", icon: "start", to: "/settings/webhook", search: { dialog: "resume" } },
  { name: "Rotate the signing secret", icon: "shield", to: "/settings/webhook", search: { dialog: "rotate" } },
  { name: "Replay events", icon: "refresh", to: "/settings/webhook", search: { dialog: "replay" } },
  { name: "New template", icon: "template", to: "/templates/new" },
  { name: "Sync templates", icon: "template", to: "/templates" },
  { name: "Alerts that are open", icon: "bell", to: "/alerts", search: { open: "yes" } },
  { name: "Invite a person", icon: "members", to: "/settings/members", search: { dialog: "invite" } },
  { name: "Switch workspace", icon: "person", to: "/account" },
  { name: "Change password", icon: "person", to: "/account" },
  { name: "Customer replies", icon: "event", to: "/events", search: { type: "message.received" } }
]

const pageCommands = everyCommand.filter(({ to }) => isOfChannel(to))

/** Prefixes of identifiers of things without their own page, each with the page that lists these things. */
const listByPrefix: ReadonlyArray<readonly [prefix: string, name: string, icon: IconName, to: string]> = [
  ["whk_", "Webhook", "webhook", "/settings/webhook"],
  ["job_", "Replays", "refresh", "/settings/webhook"],
  ["alr_", "Alerts", "bell", "/alerts"],
  ["usr_", "Members", "members", "/settings/members"],
  ["inv_", "Members", "members", "/settings/members"],
  ["ses_", "Your sessions", "person", "/account"],
  ["ws_", "Your workspaces", "person", "/account"],
  ["aud_", "Audit", "shield", "/settings/audit"]
]

/** The entries for an identifier; none if the text is not an identifier. Pure. */
const ofId = (id: string): ReadonlyArray<Command> => {
  const [, prefix] = /^([a-z]{2,4}_)[0-9A-Z]/.exec(id) ?? []
  if (prefix === undefined) return []
  const kind = kindOf(id)
  const own: ReadonlyArray<Command> = kind === undefined
    ? []
    : [{ name: `Open ${kind.name} ${id}`, icon: kind.icon, to: kind.to, id }]
  const listed = listByPrefix.filter(([each]) => each === prefix)
    .map(([, name, icon, to]): Command => ({ name, icon, to }))
  const ofNumber: ReadonlyArray<Command> = prefix !== "pn_"
    ? []
    : id.includes(":")
    ? [{ name: `Open contact ${id}`, icon: "contact", to: "/contacts/$id", id }]
    : [{ name: "Phone numbers", icon: "phone", to: "/phone-numbers" }]
  const ofMessage: ReadonlyArray<Command> = prefix !== "msg_" ? [] : [
    { name: `Events of ${id}`, icon: "event", to: "/events", search: { message: id } },
    { name: `Deliveries of ${id}`, icon: "delivery", to: "/deliveries", search: { message: id } }
  ]
  const audited: Command = { name: `Changes of ${id}`, icon: "shield", to: "/settings/audit", search: { target: id } }
  return [...own, ...listed, ...ofNumber, ...ofMessage, audited]
}

/** The entries that match a text, best first; the results of the search (`found`) come before pages. Pure. */
const commandsFor = (query: string, found: ReadonlyArray<Command>): ReadonlyArray<Command> => {
  const customer = customerOf(query)
  const customers: ReadonlyArray<Command> = customer === undefined ? [] : [
    { name: `Messages to ${customer}`, icon: "message", to: "/messages", search: { to: customer } },
    { name: `Contact ${customer}`, icon: "contact", to: "/contacts", search: { number: customer } },
    { name: `Send a message to ${customer}`, icon: "arrow", to: "/messages/new", search: { to: customer } }
  ]
  const provided: ReadonlyArray<Command> = query.startsWith("wamid.")
    ? [{ name: `Message ${query}`, icon: "message", to: "/messages", search: { provider: query } }]
    : []
  const words = query.toLowerCase().split(/\s+/)
  return [
    ...ofId(query),
    ...found,
    ...customers,
    ...provided,
    ...pageCommands.filter(({ name }) => words.every((word) => name.toLowerCase().includes(word))),
    // a message's reference can be any word
    ...query === "" ? [] : [{
      name: `Messages with the reference ${query}`,
      icon: "message" as const,
      to: "/messages",
      search: { reference: query }
    }]
  ]
}

export const CommandMenu = ({ onClose, typed }: { readonly onClose: () => void; readonly typed: Typed }) => {
  const navigate = useNavigate()
  const [text, setText] = useState(typed.text)
  const query = text.trim()
  const found = useCommandSearch(query, ofId(query).length === 0)
  const { data = [] } = found
  const missing = notFoundText(data, query)
  const go = (command: Command) => {
    onClose()
    // commands hold addresses as text, so the router's types cannot check them
    void navigate({ to: command.to, search: command.search, params: { id: command.id } } as never)
  }
  useEffect(() => {
    const [first] = commandsFor(typed.text.trim(), [])
    if (typed.isEntered && first !== undefined) go(first)
    // only on the first render: what was typed before the menu was loaded is carried out once
  }, [])
  return (
    <Autocomplete.Root
      open
      inline
      autoHighlight="always"
      keepHighlight
      items={commandsFor(query, data.flatMap(({ commands }) => commands))}
      filter={null}
      itemToStringValue={({ name }: Command) => name}
      value={text}
      onValueChange={(value, { reason }) => {
        // a chosen entry is opened; its name is not filled in
        if (reason !== "item-press") setText(value)
      }}
    >
      <FieldLine>
        <Autocomplete.Input {...field} />
      </FieldLine>
      <Autocomplete.List aria-label="Results" className="max-h-80 scroll-py-1 overflow-y-auto p-1">
        {(command: Command) => (
          <Autocomplete.Item
            key={`${command.name} ${command.id ?? ""}`}
            value={command}
            onClick={() => go(command)}
            className="flex cursor-pointer items-center gap-2.5 rounded-md px-2.5 py-2 data-highlighted:bg-accent-soft data-highlighted:text-accent"
          >
            <Icon name={command.icon} />
            <span className="truncate">{command.name}</span>
          </Autocomplete.Item>
        )}
      </Autocomplete.List>
      <p
        role="status"
        className="px-3 text-[13px] break-words text-muted not-empty:border-t not-empty:border-line not-empty:py-2"
      >
        {found.isFetching ? "Searching…" : found.error === null ? missing : messageOf(found.error)}
      </p>
    </Autocomplete.Root>
  )
}
