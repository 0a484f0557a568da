/**
 * The hold on queued messages after a restored backup: what it means, and the button that releases it (contract §15).
 */
import { useQuery } from "@tanstack/react-query"
import type { QueueState } from "@wac/client/internal"
import { useState } from "react"
import * as RoleOf from "../generated/RoleOf.ts"
import { api } from "../session/Service.ts"
import { useRefusal } from "../session/Session.tsx"
import { Button } from "../ui/Button.tsx"
import { Confirm } from "../ui/Dialog.tsx"
import { Notice } from "../ui/Notice.tsx"
import { Time } from "../ui/Time.tsx"
import { counted } from "../ui/Words.ts"
import { queueQuery } from "./Queries.ts"

/** The button that releases the queue, after a confirmation. */
export const ReleaseQueue = ({ queue: { enqueued, oldestDueAt, queued } }: { readonly queue: QueueState }) => {
  const refusal = useRefusal(RoleOf.queueRelease)
  const [isAsked, setAsked] = useState(false)
  return (
    <>
      <Button small refusal={refusal} onClick={() => setAsked(true)}>Release…</Button>
      {isAsked ?
        (
          <Confirm
            title="Release the queue?"
            action="Release the queue"
            act={() => api.queue.release()}
            onClose={() => setAsked(false)}
          >
            {queued === 0
              ? "No message of this workspace is queued. "
              : (
                <>
                  {counted(queued, "message of this workspace waits", "messages of this workspace wait")}
                  {oldestDueAt === null ? ", and none is due. " : (
                    <>
                      ; the first was due <Time at={oldestDueAt} />.{" "}
                    </>
                  )}
                </>
              )}
            {enqueued === 0 ? null : (
              <>
                {counted(
                  enqueued,
                  "message from before the hold waits in the outbox and is sent once it is queued",
                  "messages from before the hold wait in the outbox and are sent once they are queued"
                )}: an operator can list and cancel them with <code className="font-mono">wac messages</code>.{" "}
              </>
            )}
            Messages that are due are sent immediately, and the others at their times. A message that was sent after the
            backup was made is sent twice, and customers who opted out after it are written to: check both first.
          </Confirm>
        ) :
        null}
    </>
  )
}

/** The sentences about why queued messages are not sent. */
export const HeldWords = ({ since }: { readonly since: string }) => (
  <>
    The database was restored from a backup, so queued messages may have been sent already. They wait, since{" "}
    <Time at={since} />, until an admin releases the queue.
  </>
)

/** The notice on pages with queued messages while these are held; nothing otherwise. */
export const HeldQueue = () => {
  const { data: queue } = useQuery(queueQuery)
  return queue === undefined || queue.heldSince === null ? null : (
    <section aria-label="Queue">
      <Notice tone="warn" actions={<ReleaseQueue queue={queue} />}>
        <strong>Queued messages are held.</strong> <HeldWords since={queue.heldSince} />
      </Notice>
    </section>
  )
}
