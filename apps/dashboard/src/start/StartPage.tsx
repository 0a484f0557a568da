/**
 * The page with the first steps, from an API key to a verified event. A step is done once the service has recorded it.
 */
import { useQuery } from "@tanstack/react-query"
import { Link } from "@tanstack/react-router"
import { type ReactNode, useState } from "react"
import * as RoleOf from "../generated/RoleOf.ts"
import { CreateKeyDialog } from "../keys/CreateKey.tsx"
import { sendCurl } from "../keys/SendCurl.ts"
import { MessageState } from "../messages/MessageWords.tsx"
import { live } from "../session/Refetching.ts"
import { address, api } from "../session/Service.ts"
import { useRefusal } from "../session/Session.tsx"
import { Actions, Button, buttonClass } from "../ui/Button.tsx"
import { Code } from "../ui/Copy.tsx"
import { Icon } from "../ui/Icon.tsx"
import { LoadState } from "../ui/Loaded.tsx"
import { Page } from "../ui/Page.tsx"
import { Status } from "../ui/Status.tsx"
import { Time } from "../ui/Time.tsx"
import { webhookQuery } from "../webhooks/Queries.ts"
import { useTabReceiver } from "./TabReceiver.ts"

const Step = (
  { children, isDone, number, title }: {
    readonly number: number
    readonly title: string
    readonly isDone: boolean
    readonly children: ReactNode
  }
) => (
  <li className="card flex gap-4 p-4">
    <span
      className={`flex size-7 shrink-0 items-center justify-center rounded-full font-medium ${
        isDone ? "bg-brand text-on-brand" : "border border-edge text-muted"
      }`}
    >
      {isDone ? <Icon name="check" /> : number}
    </span>
    <div className="min-w-0 flex-1 space-y-2.5">
      <h2 className="font-semibold">
        {title} <span className="sr-only">{isDone ? "(done)" : "(to do)"}</span>
      </h2>
      {children}
    </div>
  </li>
)

export const StartPage = () => {
  const refusal = useRefusal(RoleOf.apiKeysCreate)
  const [isCreating, setCreating] = useState(false)
  const [once] = useState(() => crypto.randomUUID())
  const [isReceiving, setReceiving] = useState(false)
  const tab = useTabReceiver(isReceiving)
  const verified = tab.arrivals.find(({ isVerified }) => isVerified)
  const keys = useQuery({
    queryKey: ["api-keys", { limit: 1 }],
    queryFn: ({ signal }) => api.apiKeys.list({ limit: 1 }, { signal }).toArray(1),
    ...live(3000)
  })
  const messages = useQuery({
    queryKey: ["messages", { limit: 1 }],
    queryFn: ({ signal }) => api.messages.list({ limit: 1 }, { signal }).toArray(1),
    ...live(2000)
  })
  const webhook = useQuery(webhookQuery)
  const delivered = useQuery({
    queryKey: ["deliveries", { status: "delivered", limit: 1 }],
    queryFn: ({ signal }) => api.deliveries.list({ status: "delivered", limit: 1 }, { signal }).toArray(1),
    ...live(2000)
  })
  const failed = [keys, messages, webhook, delivered].find(({ error }) => error !== null)
  const key = keys.data?.[0]
  const message = messages.data?.[0]
  const delivery = delivered.data?.[0]
  return (
    <Page
      title="Get started"
      lead="Four steps to a first message and its verified event. Each is ticked when the service has seen it happen."
    >
      {failed === undefined ? null : (
        <div className="card">
          <LoadState query={failed} />
        </div>
      )}
      <ol className="space-y-4">
        <Step number={1} title="Create an API key" isDone={key !== undefined}>
          <p className="text-muted">
            {key === undefined
              ? "Your server signs in to the API with it. Its secrets are shown once."
              : `There is one: ${key.name}.`}
          </p>
          <Button
            icon="key"
            look={key === undefined ? "primary" : "secondary"}
            refusal={refusal}
            onClick={() => setCreating(true)}
          >
            {key === undefined ? "Create API key" : "Create another"}
          </Button>
        </Step>
        <Step number={2} title="Send a message" isDone={message !== undefined}>
          {message === undefined
            ? (
              <>
                <p className="text-muted">
                  In a terminal, with your key in place of{" "}
                  <code className="font-mono text-[13px]">YOUR_API_KEY</code>. The dialog that shows a new key has the
                  same command with the key filled in.
                </p>
                <Code label="Command" text={sendCurl(address, "YOUR_API_KEY", `first-${once}`)} />
              </>
            )
            : (
              <p className="flex flex-wrap items-center gap-2">
                <Link to="/messages/$id" params={{ id: message.id }} className="text-accent underline">
                  To {message.to}
                </Link>
                <MessageState status={message.status} />
                <span className="text-muted">
                  <Time at={message.createdAt} />
                </span>
              </p>
            )}
        </Step>
        <Step number={3} title="Set the webhook" isDone={webhook.data != null || tab.secret !== undefined}>
          <p className="text-muted">
            {webhook.data == null
              ? "What happens to messages is posted to an address of yours, signed."
              : (
                <>
                  Events go to <code className="font-mono text-[13px] break-all">{webhook.data.url}</code>.
                </>
              )}
          </p>
          <Actions>
            <Link to="/settings/webhook" className={buttonClass(webhook.data == null ? "primary" : "secondary")}>
              {webhook.data == null ? "Set webhook" : "Open webhook"}
            </Link>
            {isReceiving
              ? <Button icon="cross" onClick={() => setReceiving(false)}>Stop receiving here</Button>
              : <Button icon="event" onClick={() => setReceiving(true)}>Receive in this tab</Button>}
          </Actions>
          {isReceiving
            ? (
              <p role="status" className="text-muted">
                {tab.secret === undefined ? "Connecting…" : (
                  <>
                    This tab receives events as your server would, while it is open. They are signed with{" "}
                    <code className="font-mono text-[13px] break-all">{tab.secret}</code>. This secret stops working
                    when you stop receiving.
                  </>
                )}
              </p>
            )
            : webhook.data == null
            ? <p className="text-[13px] text-muted">No server at hand? This tab can be the receiver for now.</p>
            : null}
        </Step>
        <Step number={4} title="See an event arrive" isDone={delivery !== undefined || verified !== undefined}>
          {delivery === undefined
            ? null
            : (
              <p>
                <Link to="/deliveries/$id" params={{ id: delivery.id }} className="text-accent underline">
                  {delivery.eventType}
                </Link>{" "}
                <span className="text-muted">
                  was delivered, recorded <Time at={delivery.createdAt} />.
                </span>
              </p>
            )}
          {tab.arrivals.map((arrival) => (
            <details key={arrival.body} className="rounded-md border border-line">
              <summary className="flex flex-wrap items-center gap-2 px-3 py-2">
                <Status tone={arrival.isVerified ? "good" : "bad"}>
                  {arrival.isVerified ? "Verified" : "Not verified"}
                </Status>
                <span>{arrival.words}</span>
                <span className="text-muted">came to this tab</span>
              </summary>
              <div className="border-t border-line p-3">
                <Code
                  label="Delivery"
                  text={`${
                    Object.entries(arrival.headers).map(([name, value]) => `${name}: ${value}`).join("\n")
                  }\n\n${arrival.body}`}
                />
              </div>
            </details>
          ))}
          {delivery === undefined && verified === undefined
            ? (
              <>
                <p className="text-muted">
                  Send another message once a receiver is there. It verifies the event’s signature, and returns 200.
                </p>
                {message === undefined || (webhook.data == null && !isReceiving)
                  ? null
                  : <Code label="Second command" text={sendCurl(address, "YOUR_API_KEY", `second-${once}`)} />}
              </>
            )
            : null}
        </Step>
      </ol>
      {isCreating ? <CreateKeyDialog onClose={() => setCreating(false)} /> : null}
    </Page>
  )
}
