/** Delivering chosen deliveries again, one after the other, with its progress. */
import { useMutation, useQueryClient } from "@tanstack/react-query"
import { useState } from "react"
import { api } from "../session/Service.ts"
import { Button } from "../ui/Button.tsx"
import { Dialog } from "../ui/Dialog.tsx"
import { Failure, Notice } from "../ui/Failure.tsx"
import { counted, grouped } from "../ui/Words.ts"

export const DeliverAgain = (
  { ids, onClose, onDone }: {
    readonly ids: ReadonlyArray<string>
    readonly onClose: () => void
    /** When all were begun again. */
    readonly onDone: () => void
  }
) => {
  const client = useQueryClient()
  const [begun, setBegun] = useState<ReadonlyArray<string>>([])
  const again = useMutation({
    mutationFn: async () => {
      // where one was refused, the others of before stay as they are: only what is left is begun
      const done = [...begun]
      for (const id of ids.filter((id) => !begun.includes(id))) {
        await api.deliveries.retry(id)
        done.push(id)
        setBegun([...done])
      }
      onDone()
    },
    onSettled: () => client.invalidateQueries()
  })
  const left = ids.length - begun.length
  return (
    <Dialog
      title={`Deliver ${counted(ids.length, "event", "events")} again?`}
      isOpen
      isDismissible={!again.isPending}
      onClose={onClose}
      width="max-w-md"
    >
      <div className="space-y-4">
        <p>
          Begins a new round of attempts for {counted(ids.length, "delivery", "deliveries")}{" "}
          under the same event ids, so a receiver that remembers ids handles each event once.
        </p>
        {again.isIdle ? null : (
          <div role="status">
            <progress
              max={ids.length}
              value={begun.length}
              aria-label="Progress"
              className="block h-2 w-full accent-accent"
            />
            <p className="mt-1 tabular-nums">{grouped(begun.length)} of {grouped(ids.length)} begun</p>
          </div>
        )}
        <Failure error={again.error} />
        {again.isSuccess ? <Notice tone="good">Every one of them is on its way.</Notice> : null}
        <div className="flex flex-wrap justify-end gap-2">
          <Button onClick={onClose} refusal={again.isPending ? "It is being done." : undefined}>
            {again.isSuccess ? "Close" : "Cancel"}
          </Button>
          {again.isSuccess ? null : (
            <Button look="primary" isPending={again.isPending} onClick={() => again.mutate()}>
              {begun.length === 0 ? "Deliver again" : `Go on with ${grouped(left)}`}
            </Button>
          )}
        </div>
      </div>
    </Dialog>
  )
}
