/** The button that cancels all queued messages of a list's filter, after a confirmation and with a progress. */
import { type ListedMessage, WacError } from "@wac/client/internal"
import { type ComponentProps, useState } from "react"
import * as RoleOf from "../generated/RoleOf.ts"
import { api, isNotFound } from "../session/Service.ts"
import { useRefusal } from "../session/Session.tsx"
import { BulkDialog, type LeftOut } from "../ui/BulkDialog.tsx"
import { Button } from "../ui/Button.tsx"
import { grouped } from "../ui/Language.ts"
import { counted } from "../ui/Words.ts"
import { isCancellable } from "./CancelMessage.tsx"

const sent: LeftOut = ["was already sent", "were already sent"]
const failed: LeftOut = ["is no longer queued", "are no longer queued"]
const erased: LeftOut = ["is no longer there", "are no longer there"]

const whyNot = (error: unknown): LeftOut => {
  if (isNotFound(error)) return erased
  const { reason } = error instanceof WacError ? error : {}
  if (reason === "already_sent") return sent
  if (reason === "not_queued") return failed
  throw error
}

export const CancelQueued = (
  { filter, messages, whole, walk }: {
    /** The messages of the page that is shown. */
    readonly messages: ReadonlyArray<ListedMessage>
    /** Whether the page contains all messages of the filter. */
    readonly whole: boolean
    readonly filter: ReadonlyArray<readonly [name: string, value: string]>
    readonly walk: ComponentProps<typeof BulkDialog<ListedMessage>>["walk"]
  }
) => {
  const refusal = useRefusal(RoleOf.messagesCancel)
  const [isAsked, setAsked] = useState(false)
  const count = messages.filter(isCancellable).length
  return (
    <>
      {count === 0 && whole ? null : (
        <div>
          <Button look="danger" refusal={refusal} onClick={() => setAsked(true)}>
            {whole ? `Cancel all ${grouped(count)}…` : "Cancel all…"}
          </Button>
        </div>
      )}
      {isAsked
        ? (
          <BulkDialog
            title={(count) => `Cancel ${count === undefined ? "messages" : counted(count, "message", "messages")}?`}
            noun="message"
            action="Cancel messages"
            look="destroy"
            done="cancelled"
            filter={filter}
            walk={walk}
            fits={isCancellable}
            act={({ id }) => api.messages.cancel(id).then(() => undefined, whyNot)}
            onClose={() => setAsked(false)}
          >
            A cancelled message is never sent. This cannot be undone. Messages of campaigns, and those that are queued
            from now on, are not cancelled.
          </BulkDialog>
        )
        : null}
    </>
  )
}
