/** The button that cancels a queued message, with its confirmation and its result. */
import { useQueryClient } from "@tanstack/react-query"
import type { MessageDetail } from "@wac/client/internal"
import { useState } from "react"
import * as RoleOf from "../generated/RoleOf.ts"
import { api } from "../session/Service.ts"
import { useRefusal } from "../session/Session.tsx"
import { Button } from "../ui/Button.tsx"
import { Confirm } from "../ui/Dialog.tsx"
import { Notice } from "../ui/Notice.tsx"
import { Time } from "../ui/Time.tsx"

/**
 * Whether a person can cancel the message itself: a queued message without a time belongs to a campaign, which cancels
 * it.
 */
export const isCancellable = ({ sendAt, status }: Pick<MessageDetail, "sendAt" | "status">): boolean =>
  status === "queued" && sendAt !== null

export const CancelMessage = (
  { message: { id, sendAt, status, to } }: { readonly message: MessageDetail }
) => {
  const client = useQueryClient()
  const refusal = useRefusal(RoleOf.messagesCancel)
  const [isConfirming, setConfirming] = useState(false)
  const [isCancelled, setCancelled] = useState(false)
  return (
    <>
      {isCancellable({ sendAt, status })
        ? <Button look="danger" refusal={refusal} onClick={() => setConfirming(true)}>Cancel message…</Button>
        : null}
      {isCancelled
        ? <Notice tone="good" role="status">The message is cancelled. It is never sent.</Notice>
        : null}
      {isConfirming ?
        (
          <Confirm
            title="Cancel the message?"
            action="Cancel message"
            dismiss="Close"
            act={() => api.messages.cancel(id)}
            onClose={() => setConfirming(false)}
            onDone={(message) => {
              client.setQueryData(["message", id], message)
              setCancelled(true)
              setConfirming(false)
            }}
          >
            {sendAt === null ? null : (
              <>
                The message to {to}, to be sent <Time at={sendAt} />, is never sent. This cannot be undone.
              </>
            )}
          </Confirm>
        ) :
        null}
    </>
  )
}
