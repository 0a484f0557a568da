/** The page of one message: its status, why it failed, its content, and its timeline. */
import { useQuery } from "@tanstack/react-query"
import { Link, useParams } from "@tanstack/react-router"
import type { MessageDetail } from "@wac/client/internal"
import { CustomerWindow } from "../contacts/Window.tsx"
import { KeyName } from "../keys/KeyName.tsx"
import { phoneNumbersQuery } from "../numbers/Queries.ts"
import { channel } from "../session/Document.ts"
import { live } from "../session/Refetching.ts"
import { api, errorAddress, isNotFound } from "../session/Service.ts"
import { Loaded, LoadState } from "../ui/Loaded.tsx"
import { Missing } from "../ui/Missing.tsx"
import { Notice } from "../ui/Notice.tsx"
import { Fact, Facts, Page, Section } from "../ui/Page.tsx"
import { Id } from "../ui/Table.tsx"
import { exactly, Time, useNow } from "../ui/Time.tsx"
import { asSentence, capitalized } from "../ui/Words.ts"
import { lifeQuery } from "../webhooks/Life.ts"
import { CancelMessage } from "./CancelMessage.tsx"
import { HeldQueue } from "./HeldQueue.tsx"
import { messageMeanings, MessageState } from "./MessageWords.tsx"
import { Sent } from "./Sent.tsx"
import { Timeline } from "./Timeline.tsx"

/** The recipient's service window for the phone number that the message was sent from. */
const Window = ({ message: { from, to } }: { readonly message: MessageDetail }) => {
  const numbers = useQuery(phoneNumbersQuery)
  const number = numbers.data?.find(({ phoneNumber }) => phoneNumber === from)
  if (number !== undefined) return <CustomerWindow phoneNumberId={number.id} to={to} />
  return numbers.data === undefined
    ? <LoadState query={numbers} lines={1} />
    : <span className="text-muted">Not known</span>
}

/** The time for which a message was queued. */
const Due = ({ at, isWaiting }: { readonly at: string; readonly isWaiting: boolean }) => {
  const isDue = useNow((now) => Date.parse(at) <= now)
  return (
    <Fact name={isWaiting ? "Due" : "Queued for"}>
      <Time at={at} />
      <span className="block text-[13px] text-muted">
        {exactly(at)}
        {isWaiting && isDue ? ". It waits for its turn." : null}
      </span>
    </Fact>
  )
}

/** Whether the provider charges for the message, and in which category, as text. Pure. */
const priceOf = ({ billable, category }: NonNullable<MessageDetail["pricing"]>): string =>
  `${billable === null ? "Not known whether it is charged" : billable ? "Charged" : "Free"} · ${capitalized(category)}`

export const MessagePage = () => {
  const { id } = useParams({ from: "/messages/$id" })
  const query = useQuery({
    queryKey: ["message", id],
    queryFn: ({ signal }) => api.messages.get(id, { signal }),
    ...live(3000)
  })
  const { data: message } = query
  const life = useQuery({ ...lifeQuery(id), enabled: !isNotFound(query.error) })
  return (
    <Page
      title={message === undefined ? "Message" : `Message to ${message.to}`}
      lead={<Id>{id}</Id>}
      actions={message === undefined ? null : <CancelMessage key={id} message={message} />}
    >
      {message?.status === "queued" && message.sendAt !== null ? <HeldQueue /> : null}
      <div className="card">
        <Loaded query={query} missing={<Missing what="message" to="/messages" all="All messages" />}>
          {(message) => (
            <div className="space-y-4 p-4">
              {message.error === null ? null : (
                <Notice tone="bad">
                  <strong>{asSentence(message.error.message)}</strong>
                  {message.error.provider === undefined ? null : (
                    <span className="block text-[13px]">
                      The provider said: {message.error.provider.message} (code {message.error.provider.code})
                    </span>
                  )}
                  <a
                    className="text-[13px] underline"
                    href={errorAddress(message.error)}
                  >
                    What to do about it
                  </a>
                </Notice>
              )}
              <Facts>
                <Fact name="Status">
                  <MessageState status={message.status} />
                  <span className="block text-[13px] text-muted">{messageMeanings[message.status]}</span>
                </Fact>
                {message.sendAt === null
                  ? null
                  : <Due at={message.sendAt} isWaiting={message.status === "queued"} />}
                <Fact name="To">
                  <Link to="/messages" search={{ to: message.to }} className="text-accent underline">{message.to}</Link>
                </Fact>
                <Fact name="From">{message.from}</Fact>
                {channel.serviceWindow
                  ? (
                    <Fact name="Customer’s service window">
                      <Window message={message} />
                    </Fact>
                  )
                  : null}
                <Fact name="Kind">{capitalized(message.type)}</Fact>
                <Fact name="Price">
                  {message.pricing === null
                    ? <span className="text-muted">Not reported</span>
                    : priceOf(message.pricing)}
                </Fact>
                <Fact name="Client reference">
                  {message.clientReference ?? <span className="text-muted">None</span>}
                </Fact>
                <Fact name="Provider’s id">
                  {message.providerMessageId === null
                    ? <span className="text-muted">None yet</span>
                    : <Id>{message.providerMessageId}</Id>}
                </Fact>
                <Fact name="Sent with">
                  {message.campaignId !== null
                    ? (
                      <Link to="/campaigns/$id" params={{ id: message.campaignId }} className="text-accent underline">
                        A campaign
                      </Link>
                    )
                    : message.apiKeyId === null
                    ? "No API key: the dashboard, the outbox, or an operator’s retry"
                    : (
                      <Link to="/api-keys/$id" params={{ id: message.apiKeyId }} className="text-accent underline">
                        <KeyName id={message.apiKeyId} />
                      </Link>
                    )}
                </Fact>
              </Facts>
            </div>
          )}
        </Loaded>
      </div>
      {message === undefined ?
        null :
        (
          <>
            <Sent message={message} />
            <Section title="Timeline" description="Each step, the event that reports it, and its way to your webhook.">
              <Loaded query={life}>{(life) => <Timeline message={message} life={life} />}</Loaded>
            </Section>
          </>
        )}
    </Page>
  )
}
