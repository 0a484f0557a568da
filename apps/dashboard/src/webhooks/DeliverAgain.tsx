/** Delivering chosen deliveries again, one after the other, with its progress. */
import { useMutation, useQueryClient } from "@tanstack/react-query"
import type { DeliveryStatus } from "@wac/client/internal"
import { useState } from "react"
import { api } from "../session/Service.ts"
import { Bar } from "../ui/Bar.tsx"
import { Button } from "../ui/Button.tsx"
import { Dialog } from "../ui/Dialog.tsx"
import { Failure } from "../ui/Failure.tsx"
import { counted, grouped } from "../ui/Words.ts"
import { Begun } from "./Begun.tsx"

export const DeliverAgain = (
  { ids, onClose, onDone }: {
    readonly ids: ReadonlyArray<string>
    readonly onClose: () => void
    /** When all were begun again. */
    readonly onDone: () => void
  }
) => {
  const client = useQueryClient()
  const [begun, setBegun] = useState<ReadonlyMap<string, DeliveryStatus>>(new Map())
  const again = useMutation({
    mutationFn: async () => {
      // where one was refused, the others of before stay as they are: only what is left is begun
      const done = new Map(begun)
      for (const id of ids.filter((id) => !begun.has(id))) {
        const { status } = await api.deliveries.retry(id)
        done.set(id, status)
        setBegun(new Map(done))
      }
      onDone()
    },
    onSettled: () => client.invalidateQueries()
  })
  const left = ids.length - begun.size
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
            <Bar label="Progress" max={ids.length} value={begun.size} />
            <p className="mt-1 tabular-nums">{grouped(begun.size)} of {grouped(ids.length)} begun</p>
          </div>
        )}
        <Failure error={again.error} />
        {again.isSuccess ? <Begun statuses={[...begun.values()]} /> : null}
        <div className="flex flex-wrap justify-end gap-2">
          <Button onClick={onClose} refusal={again.isPending ? "It is being done." : undefined}>
            {again.isSuccess ? "Close" : "Cancel"}
          </Button>
          {again.isSuccess ? null : (
            <Button look="primary" isPending={again.isPending} onClick={() => again.mutate()}>
              {begun.size === 0 ? "Deliver again" : `Go on with ${grouped(left)}`}
            </Button>
          )}
        </div>
      </div>
    </Dialog>
  )
}
