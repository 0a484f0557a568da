/** The conversation with a customer, in both directions, and the form for a reply. */
import { useInfiniteQuery, useMutation, useQueryClient } from "@tanstack/react-query"
import { Link } from "@tanstack/react-router"
import type { Contact, ConversationMessage, SendMessage } from "@wac/client/internal"
import { useState } from "react"
import * as MaxLength from "../generated/MaxLength.ts"
import * as RoleOf from "../generated/RoleOf.ts"
import { MessageState } from "../messages/MessageWords.tsx"
import { channel } from "../session/Document.ts"
import { useOnce } from "../session/Once.ts"
import { live } from "../session/Refetching.ts"
import { api, firstPage } from "../session/Service.ts"
import { useRefusal } from "../session/Session.tsx"
import { Button, buttonClass } from "../ui/Button.tsx"
import { Failure } from "../ui/Failure.tsx"
import { elsewhere, Field } from "../ui/Field.tsx"
import { Empty, Loaded } from "../ui/Loaded.tsx"
import { Section } from "../ui/Page.tsx"
import { Time, useNow } from "../ui/Time.tsx"
import { Said } from "./Said.tsx"

/**
 * The recipient for messages to this customer: the phone number, otherwise the user id; one of the two is always known.
 */
export const addressOf = ({ id, phone, userId }: Contact): string => phone ?? userId ?? id

/** The number of messages per request. */
const pageSize = 50

const Bubble = (
  { message: { at, content, direction, id, status, type } }: { readonly message: ConversationMessage }
) => {
  const isSent = direction === "outbound"
  return (
    <li className={`flex ${isSent ? "justify-end" : ""}`}>
      <div
        className={`max-w-md min-w-0 rounded-lg border border-line px-3 py-2 ${
          isSent ? "rounded-tr-none bg-accent-soft" : "rounded-tl-none bg-sunken"
        }`}
      >
        <p className="text-[13px] text-muted">
          {isSent ? "You" : "Customer"} · <Time at={at} />
        </p>
        <div className="break-words whitespace-pre-wrap">
          <Said type={type} content={content} />
        </div>
        {isSent && status !== "received"
          ? (
            <Link to="/messages/$id" params={{ id }} className="hover:underline">
              <span className="sr-only">The message’s page:</span>
              <MessageState status={status} />
            </Link>
          )
          : null}
      </div>
    </li>
  )
}

/** The form for a text to the customer; if none can be sent, the reason. */
const Reply = ({ contact }: { readonly contact: Contact }) => {
  const client = useQueryClient()
  const refusal = useRefusal(RoleOf.messagesSend)
  const [body, setBody] = useState("")
  const once = useOnce<SendMessage>({ isMessage: true, isRepeatable: true })
  const to = addressOf(contact)
  const { optedOut, phoneNumberId: from, windowOpenUntil } = contact
  const isOpen = useNow((now) =>
    !channel.serviceWindow || (windowOpenUntil !== null && Date.parse(windowOpenUntil) > now)
  )
  const send = useMutation({
    mutationFn: (body: string) =>
      once([to, from, body], () => ({ to, from, type: "text", text: { body } }), api.messages.send),
    // what the person has typed meanwhile stays
    onSuccess: (_, sent) => setBody((body) => body === sent ? "" : body),
    onSettled: () => client.invalidateQueries()
  })
  if (!isOpen || optedOut) {
    return (
      <p className="flex flex-wrap items-center gap-3 border-t border-line pt-4 text-muted">
        {optedOut ? "The customer has opted out." : "The service window is closed: only a template can be sent."}
        {optedOut ?
          null :
          (
            <Link to="/messages/new" search={{ to, from }} className={buttonClass("secondary", true)}>
              Send a template
            </Link>
          )}
      </p>
    )
  }
  return (
    <form
      className="space-y-2 border-t border-line pt-4"
      onSubmit={(event) => {
        event.preventDefault()
        if (!send.isPending && refusal === undefined) send.mutate(body)
      }}
    >
      <Field label="Reply" error={send.error} param="text">
        {(control) => (
          <textarea
            {...control}
            required
            rows={3}
            maxLength={MaxLength.textContentBody}
            className="field"
            value={body}
            onChange={(event) => setBody(event.target.value)}
          />
        )}
      </Field>
      <Failure error={elsewhere(send.error, "text")} />
      <Button look="primary" type="submit" icon="arrow" isPending={send.isPending} refusal={refusal}>
        {send.isPending ? "Sending…" : "Send reply"}
      </Button>
    </form>
  )
}

export const Conversation = ({ contact }: { readonly contact: Contact }) => {
  const query = useInfiniteQuery({
    queryKey: ["messages", { conversation: contact.id }],
    queryFn: ({ pageParam, signal }) =>
      firstPage(
        api.contacts.messages(
          contact.id,
          { limit: pageSize, ...(pageParam === null ? {} : { cursor: pageParam }) },
          { signal }
        )
      ),
    initialPageParam: null as string | null,
    getNextPageParam: ({ nextCursor }) => nextCursor,
    ...live()
  })
  return (
    <Section
      title="Conversation"
      description="What was sent to the customer, and what the customer wrote."
      actions={
        <Link to="/messages" search={{ to: addressOf(contact) }} className={buttonClass("secondary", true)}>
          All sent messages
        </Link>
      }
    >
      <div className="space-y-4">
        {query.hasNextPage
          ? (
            <Button small isPending={query.isFetchingNextPage} onClick={() => void query.fetchNextPage()}>
              Older messages
            </Button>
          )
          : null}
        <Loaded query={query}>
          {({ pages }) => {
            const messages = pages.flatMap(({ data }) => data).toReversed()
            return messages.length === 0 ?
              <Empty title="Nothing was written yet" /> :
              (
                <ol aria-label="Messages" className="space-y-3">
                  {messages.map((message) => <Bubble key={message.id} message={message} />)}
                </ol>
              )
          }}
        </Loaded>
        <Reply contact={contact} />
      </div>
    </Section>
  )
}
