/** Cancelling a queued message, after a question, and what came of it. */
import { useMutation, useQueryClient } from "@tanstack/react-query"
import type { MessageDetail } from "@wac/client/internal"
import { useState } from "react"
import * as RoleOf from "../generated/RoleOf.ts"
import { api } from "../session/Service.ts"
import { useRefusal } from "../session/Session.tsx"
import { Button } from "../ui/Button.tsx"
import { Confirm } from "../ui/Dialog.tsx"
import { Notice } from "../ui/Failure.tsx"
import { Time } from "../ui/Time.tsx"

export const CancelMessage = (
  { message: { id, sendAt, status, to } }: { readonly message: MessageDetail }
) => {
  const client = useQueryClient()
  const refusal = useRefusal(RoleOf.messagesCancel)
  const [isAsked, setAsked] = useState(false)
  const cancel = useMutation({
    mutationFn: () => api.messages.cancel(id),
    onSuccess: (message) => {
      client.setQueryData(["message", id], message)
      setAsked(false)
    },
    onSettled: () => client.invalidateQueries()
  })
  return (
    <>
      {status === "queued" && sendAt !== null
        ? <Button look="danger" refusal={refusal} onClick={() => setAsked(true)}>Cancel message…</Button>
        : null}
      {cancel.isSuccess
        ? <Notice tone="good" role="status">The message is cancelled. It is never sent.</Notice>
        : null}
      <Confirm
        title="Cancel the message?"
        action="Cancel message"
        dismiss="Close"
        isOpen={isAsked}
        isPending={cancel.isPending}
        error={cancel.error}
        onClose={() => {
          setAsked(false)
          cancel.reset()
        }}
        onConfirm={() => cancel.mutate()}
      >
        {sendAt === null ? null : (
          <>
            The message to {to}, to be sent <Time at={sendAt} />, is never sent. This cannot be undone.
          </>
        )}
      </Confirm>
    </>
  )
}
