/** Goes anywhere by the keyboard: every page, and whatever has an identifier. */
import { Dialog } from "@base-ui/react/dialog"
import { useNavigate } from "@tanstack/react-router"
import { useId, useState } from "react"
import { Icon, type IconName } from "../ui/Icon.tsx"
import { places } from "./Places.ts"

interface Command {
  readonly name: string
  readonly icon: IconName
  readonly to: string
  readonly search?: Readonly<Record<string, string>>
  readonly id?: string
}

const pageCommands: ReadonlyArray<Command> = [
  ...places.flatMap((group) => group.places.map(({ icon, name, to }): Command => ({ name, icon, to }))),
  { name: "Send a message", icon: "arrow", to: "/messages/new" },
  { name: "Requests that were refused", icon: "list", to: "/requests", search: { refused: "yes" } },
  { name: "Create an API key", icon: "key", to: "/api-keys" },
  { name: "Messages that failed", icon: "message", to: "/messages", search: { status: "failed" } },
  { name: "Deliveries that are exhausted", icon: "delivery", to: "/deliveries", search: { status: "exhausted" } },
  { name: "Deliveries that are held", icon: "delivery", to: "/deliveries", search: { status: "held" } },
  { name: "Invite a person", icon: "members", to: "/settings/members" },
  { name: "Switch workspace", icon: "person", to: "/account" },
  { name: "Change password", icon: "person", to: "/account" },
  { name: "Customer replies", icon: "event", to: "/events", search: { type: "message.received" } }
]

const byPrefix: ReadonlyArray<readonly [prefix: string, name: string, icon: IconName, to: string]> = [
  ["msg_", "Open message", "message", "/messages/$id"],
  ["evt_", "Open event", "event", "/events/$id"],
  ["dlv_", "Open delivery", "delivery", "/deliveries/$id"],
  ["key_", "Open API key", "key", "/api-keys/$id"]
]

/** What fits the words, best first. Pure. */
export const commandsFor = (text: string): ReadonlyArray<Command> => {
  const query = text.trim()
  const ids = byPrefix.filter(([prefix]) => query.startsWith(prefix) && query.length > prefix.length)
    .map(([, name, icon, to]): Command => ({ name: `${name} ${query}`, icon, to, id: query }))
  const numbers: ReadonlyArray<Command> = /^\+\d{4,}$/.test(query)
    ? [{ name: `Messages to ${query}`, icon: "message", to: "/messages", search: { to: query } }]
    : []
  const words = query.toLowerCase().split(/\s+/)
  return [
    ...ids,
    ...numbers,
    ...pageCommands.filter(({ name }) => words.every((word) => name.toLowerCase().includes(word)))
  ]
}

export const CommandMenu = ({ onClose }: { readonly onClose: () => void }) => {
  const id = useId()
  const navigate = useNavigate()
  const [text, setText] = useState("")
  const [at, setAt] = useState(0)
  const commands = commandsFor(text)
  const active = Math.min(at, commands.length - 1)
  const go = (command: Command | undefined) => {
    if (command === undefined) return
    onClose()
    // the table above is what the router's types would be checked against
    void navigate({ to: command.to, search: command.search, params: { id: command.id } } as never)
  }
  return (
    <Dialog.Root open onOpenChange={(open) => open || onClose()}>
      <Dialog.Portal>
        <Dialog.Backdrop className="fixed inset-0 z-40 bg-scrim" />
        <Dialog.Popup className="card fixed inset-x-3 top-[12vh] z-40 mx-auto max-w-lg overflow-hidden shadow-xl">
          <Dialog.Title className="sr-only">Go to</Dialog.Title>
          <div className="flex items-center gap-2 border-b border-line px-3">
            <Icon name="search" className="text-muted" />
            <input
              role="combobox"
              aria-label="Page, identifier or number"
              aria-expanded="true"
              aria-controls={`${id}-list`}
              aria-activedescendant={active < 0 ? undefined : `${id}-${active}`}
              placeholder="Page, identifier or number"
              className="min-h-11 w-full bg-transparent outline-none placeholder:text-muted"
              value={text}
              onChange={(event) => {
                setText(event.target.value)
                setAt(0)
              }}
              onKeyDown={(event) => {
                const step = { ArrowDown: 1, ArrowUp: -1 }[event.key]
                if (step !== undefined && commands.length > 0) {
                  event.preventDefault()
                  setAt((active + step + commands.length) % commands.length)
                }
                if (event.key === "Enter") {
                  event.preventDefault()
                  go(commands[active])
                }
              }}
            />
          </div>
          <ul
            id={`${id}-list`}
            role="listbox"
            aria-label="Results"
            className="max-h-80 overflow-y-auto p-1"
            tabIndex={-1}
          >
            {commands.map((command, i) => (
              <li
                key={command.name}
                id={`${id}-${i}`}
                role="option"
                aria-selected={i === active}
                onPointerMove={() => setAt(i)}
                onClick={() => go(command)}
                className="flex cursor-pointer items-center gap-2.5 rounded-md px-2.5 py-2 aria-selected:bg-accent-soft aria-selected:text-accent"
              >
                <Icon name={command.icon} />
                <span className="truncate">{command.name}</span>
              </li>
            ))}
          </ul>
          {commands.length > 0
            ? null
            : <p role="status" className="px-4 pb-6 text-center text-muted">Nothing fits “{text.trim()}”.</p>}
        </Dialog.Popup>
      </Dialog.Portal>
    </Dialog.Root>
  )
}
