/** Resuming: what becomes of the held events, the probe, and what it found (contract §6 *Resume*). */
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query"
import type { Attempt, Webhook } from "@wac/client/internal"
import { useState } from "react"
import { api } from "../session/Service.ts"
import { Button } from "../ui/Button.tsx"
import { Dialog } from "../ui/Dialog.tsx"
import { Failure, Notice } from "../ui/Failure.tsx"
import { Check, Choices, TextField } from "../ui/Field.tsx"
import { Loaded } from "../ui/Loaded.tsx"
import { timeZone } from "../ui/Time.tsx"
import { asSentence, counted } from "../ui/Words.ts"
import { AttemptView } from "./AttemptView.tsx"

type Replay = "all" | "none" | "since"

/** How many pages of held events are counted, at most. */
const countedPages = 20

/** How many held events a resume from a time on skips, as far as they are counted. */
const useSkipped = (isAsked: boolean, since: string) =>
  useQuery({
    queryKey: ["deliveries", { heldBefore: since }],
    queryFn: async ({ signal }) => {
      let count = 0
      let pages = 0
      const held = api.deliveries.list({ status: "held", until: new Date(since), limit: 100 }, { signal })
      for await (const { data, hasMore } of held.pages()) {
        count += data.length
        if (++pages === countedPages && hasMore) return { count, isAll: false }
      }
      return { count, isAll: true }
    },
    enabled: isAsked && since !== ""
  })

export const ResumeDialog = ({ onClose, webhook }: { readonly webhook: Webhook; readonly onClose: () => void }) => {
  const client = useQueryClient()
  const [replay, setReplay] = useState<Replay>("all")
  const [since, setSince] = useState("")
  const [force, setForce] = useState(false)
  const [probe, setProbe] = useState<Attempt | null>(null)
  const resume = useMutation({
    mutationFn: () =>
      api.webhook.resume({
        replay: replay === "since" ? { since: new Date(since).toISOString() } : replay,
        ...(force ? { force } : {})
      }),
    onSuccess: ({ probe, status }) => {
      if (status === "active") onClose()
      else setProbe(probe)
    },
    onSettled: () => client.invalidateQueries()
  })
  const skipped = useSkipped(replay === "since", since)
  const held = counted(webhook.heldCount, "held event", "held events")
  return (
    <Dialog title="Resume the webhook" isOpen onClose={onClose} width="max-w-2xl">
      <form
        className="space-y-5"
        onSubmit={(event) => {
          event.preventDefault()
          if (!resume.isPending) resume.mutate()
        }}
      >
        <Choices
          label={webhook.heldCount === 0 ? "No events are held" : `What to do with ${held}`}
          value={replay}
          onChange={setReplay}
          choices={[
            ["all", `Deliver all: ${held}, oldest first, at a bounded rate`],
            ["since", "Deliver those recorded since a time; skip the older ones"],
            ["none", `Deliver none: skips ${held}`]
          ]}
        />
        {replay === "since"
          ? (
            <TextField
              label="Since"
              hint={`Time zone: ${timeZone}`}
              type="datetime-local"
              step="1"
              required
              className="max-w-xs"
              value={since}
              onChange={setSince}
            />
          )
          : null}
        {replay === "since" && since !== ""
          ? (
            <Loaded query={skipped} lines={1}>
              {({ count, isAll }) => (
                <Notice tone="warn" role="status">
                  Skips {isAll ? "" : "at least "}
                  {counted(count, "held event", "held events")}, and delivers the others.
                </Notice>
              )}
            </Loaded>
          )
          : null}
        <div>
          <Check checked={force} onChange={setForce}>
            Resume without a probe
            <span className="block text-[13px] text-muted">
              Otherwise a test event is sent first, and the webhook stays paused if the receiver does not accept it.
            </span>
          </Check>
        </div>
        {probe === null ? null : (
          <div className="space-y-2">
            <Notice tone="bad" role="alert">
              The probe failed, so the webhook stays paused. {asSentence(probe.message)}
            </Notice>
            <AttemptView attempt={probe} />
          </div>
        )}
        <Failure error={resume.error} />
        <div className="flex flex-wrap justify-end gap-2">
          <Button onClick={onClose}>Cancel</Button>
          <Button look="primary" type="submit" isPending={resume.isPending}>
            {resume.isPending && !force ? "Sending the probe…" : "Resume"}
          </Button>
        </div>
      </form>
    </Dialog>
  )
}
