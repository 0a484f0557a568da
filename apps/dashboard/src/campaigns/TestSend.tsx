/**
 * The form that sends a campaign's template as a test, with the values of the first customer, before the campaign is
 * saved.
 */
import { useMutation, useQueryClient } from "@tanstack/react-query"
import type { SendMessage } from "@wac/client/internal"
import { useState } from "react"
import * as RoleOf from "../generated/RoleOf.ts"
import { ToField } from "../messages/ToField.tsx"
import { pages, portal } from "../session/Document.ts"
import { useOnce } from "../session/Once.ts"
import { api } from "../session/Service.ts"
import { useRefusal } from "../session/Session.tsx"
import { Button } from "../ui/Button.tsx"
import { Failure } from "../ui/Failure.tsx"
import { elsewhere } from "../ui/Field.tsx"
import { Notice } from "../ui/Notice.tsx"

export const TestSend = (
  { blocked, from, of = "", template }: {
    readonly template: Extract<SendMessage, { readonly type: "template" }>["template"]
    /** The number that the campaign sends from; empty for the default number. */
    readonly from: string
    /** A suffix of the labels, which keeps this form apart from that of the other variant. */
    readonly of?: string
    /** Why the template cannot be filled yet. */
    readonly blocked: string | undefined
  }
) => {
  const client = useQueryClient()
  const refusal = useRefusal(RoleOf.messagesSend)
  const [to, setTo] = useState("")
  // each press sends another test
  const once = useOnce<SendMessage>({ isMessage: true, isRepeatable: true })
  const send = useMutation({
    mutationFn: () =>
      once(
        [to, from, template],
        () => ({ to: to.trim(), ...(from === "" ? {} : { from }), type: "template", template }),
        async (request, key) => ({ to: request.to, message: await api.messages.send(request, key) })
      ),
    onSettled: () => client.invalidateQueries()
  })
  return (
    <form
      aria-label={`Test${of}`}
      className="space-y-3 border-t border-line pt-4"
      onSubmit={(event) => {
        event.preventDefault()
        if (!send.isPending && refusal === undefined && blocked === undefined) send.mutate()
      }}
    >
      <ToField
        label={`Test number${of}`}
        hint="For example yours. The message is what the first customer would get, and counts like any other."
        error={send.error}
        value={to}
        onChange={setTo}
      />
      <Failure error={elsewhere(send.error, "to")} />
      {send.data === undefined ? null : (
        <Notice tone="good" role="status">
          The test to {send.data.to} was sent. {portal === undefined
            ? (
              <a href={`${pages}/messages/${send.data.message.messageId}`} target="_blank" className="underline">
                See what became of it
              </a>
            )
            : null}
        </Notice>
      )}
      <Button type="submit" isPending={send.isPending} refusal={refusal ?? blocked}>Send a test</Button>
    </form>
  )
}
