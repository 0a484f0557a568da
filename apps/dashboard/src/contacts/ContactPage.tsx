/** One contact: its window, its wishes, and what was sent to it. */
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query"
import { Link, useParams } from "@tanstack/react-router"
import type { Contact, EventOf, ListedMessage } from "@wac/client/internal"
import { MessageState } from "../messages/MessageWords.tsx"
import { api, firstPage } from "../session/Service.ts"
import { live, useRefusal } from "../session/Session.tsx"
import { Button, buttonClass } from "../ui/Button.tsx"
import { Failure } from "../ui/Failure.tsx"
import { Empty, Loaded } from "../ui/Loaded.tsx"
import { Fact, Facts, Page, Section } from "../ui/Page.tsx"
import { Id } from "../ui/Table.tsx"
import { Time, TimeOr } from "../ui/Time.tsx"
import { capitalized } from "../ui/Words.ts"
import { OptOut, WindowState } from "./Window.tsx"

/** How many of the workspace's replies are looked through for those of one customer. */
const repliesLookedAt = 100

/** One message of a conversation, in either direction. */
interface Spoken {
  readonly id: string
  readonly at: string
  readonly text: string
  readonly sent: ListedMessage | undefined
}

/** What a reply says, or what kind it is. Pure. */
const textOf = (data: EventOf<"message.received">["data"]): string =>
  data.type === "text"
    ? (data as { readonly text?: { readonly body?: string } }).text?.body ?? ""
    : capitalized(data.type)

/** What messages to this customer are sent to: one of the two is always known. */
const addressOf = ({ id, phone, userId }: Contact): string => phone ?? userId ?? id

const Conversation = ({ contact }: { readonly contact: Contact }) => {
  const to = addressOf(contact)
  const names = [contact.phone, contact.userId].filter((name) => name !== null)
  const query = useQuery({
    queryKey: ["messages", { conversation: contact.id }],
    queryFn: async ({ signal }): Promise<ReadonlyArray<Spoken>> => {
      const [sent, replies] = await Promise.all([
        Promise.all(
          names.map((to) => firstPage(api.messages.list({ to, limit: 20 }, { signal })).then(({ data }) => data))
        ).then((pages) => pages.flat()),
        firstPage(api.events.list({ type: "message.received", limit: repliesLookedAt }, { signal })).then(({ data }) =>
          data.flatMap(({ data, id, type }) => type === "message.received" ? [{ id, data }] : [])
        )
      ])
      return [
        ...sent.map((message) => ({
          id: message.id,
          at: message.createdAt,
          text: capitalized(message.type),
          sent: message
        })),
        ...replies.filter(({ data: { from, from_user_id } }) =>
          names.includes(from) || (from_user_id !== undefined && from_user_id === contact.userId)
        ).map(({ data, id }) => ({ id, at: data.received_at, text: textOf(data), sent: undefined }))
      ].toSorted((one, other) => Date.parse(one.at) - Date.parse(other.at))
    },
    ...live()
  })
  return (
    <Section
      title="Conversation"
      description={`The last messages to this customer, and their replies among the workspace’s last ${repliesLookedAt}.`}
      actions={<Link to="/messages" search={{ to }} className={buttonClass("secondary", true)}>All sent messages</Link>}
    >
      <Loaded query={query}>
        {(spoken) =>
          spoken.length === 0 ? <Empty title="Nothing was written yet" /> : (
            <ol className="space-y-3">
              {spoken.map(({ at, id, sent, text }) => (
                <li key={id} className={`flex ${sent === undefined ? "" : "justify-end"}`}>
                  <div
                    className={`max-w-md min-w-0 rounded-lg border border-line px-3 py-2 ${
                      sent === undefined ? "rounded-tl-none bg-sunken" : "rounded-tr-none bg-accent-soft"
                    }`}
                  >
                    <p className="text-[13px] text-muted">
                      {sent === undefined ? "Customer" : "You"} · <Time at={at} />
                    </p>
                    <p className="break-words whitespace-pre-wrap">
                      {sent === undefined
                        ? <Link to="/events/$id" params={{ id }} className="hover:underline">{text}</Link>
                        : <Link to="/messages/$id" params={{ id }} className="hover:underline">{text}</Link>}
                    </p>
                    {sent === undefined ? null : <MessageState status={sent.status} />}
                  </div>
                </li>
              ))}
            </ol>
          )}
      </Loaded>
    </Section>
  )
}

/** Opts the customer out, or in again. */
const OptOutButton = ({ contact: { id, optedOut } }: { readonly contact: Contact }) => {
  const client = useQueryClient()
  const refusal = useRefusal("developer")
  const choose = useMutation({
    mutationFn: () => optedOut ? api.contacts.optIn(id) : api.contacts.optOut(id),
    onSettled: () => client.invalidateQueries()
  })
  return (
    <span className="mt-1 block">
      <Button small refusal={refusal} isPending={choose.isPending} onClick={() => choose.mutate()}>
        {optedOut ? "Opt in" : "Opt out"}
      </Button>
      <Failure error={choose.error} />
    </span>
  )
}

export const ContactPage = () => {
  const { id } = useParams({ from: "/contacts/$id" })
  const query = useQuery({
    queryKey: ["contact", id],
    queryFn: ({ signal }) => api.contacts.get(id, { signal }),
    ...live()
  })
  const { data: contact } = query
  const to = contact && addressOf(contact)
  return (
    <Page
      title={to ?? "Contact"}
      lead={<Id>{id}</Id>}
      actions={to === undefined
        ? undefined
        : <Link to="/messages/new" search={{ to }} className={buttonClass()}>Send a message</Link>}
    >
      <div className="card">
        <Loaded query={query}>
          {(contact) => (
            <div className="p-4">
              <Facts>
                <Fact name="Service window">
                  <WindowState openUntil={contact.windowOpenUntil} />
                </Fact>
                <Fact name="Last wrote">
                  <TimeOr at={contact.lastInboundAt} none="Never" />
                </Fact>
                <Fact name="Opted out">
                  <OptOut optedOut={contact.optedOut} />
                  <OptOutButton contact={contact} />
                  {contact.preferenceAt === null ? null : (
                    <span className="block text-[13px] text-muted">
                      said <Time at={contact.preferenceAt} />
                    </span>
                  )}
                </Fact>
                <Fact name="Phone">{contact.phone ?? <span className="text-muted">Not known</span>}</Fact>
                <Fact name="User id">{contact.userId ?? <span className="text-muted">Not known</span>}</Fact>
                <Fact name="Your number">
                  <Id>{contact.phoneNumberId}</Id>
                </Fact>
              </Facts>
            </div>
          )}
        </Loaded>
      </div>
      {contact === undefined ? null : <Conversation contact={contact} />}
    </Page>
  )
}
