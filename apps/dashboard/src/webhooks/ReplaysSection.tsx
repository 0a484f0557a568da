/**
 * The section with replays, which deliver a range of events again: starts and cancels them, and shows their progress.
 */
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query"
import type { CreateReplay, Replay, ReplayedStatus } from "@wac/client/internal"
import { useState } from "react"
import * as RoleOf from "../generated/RoleOf.ts"
import { useOnce } from "../session/Once.ts"
import { live } from "../session/Refetching.ts"
import { api, firstPage } from "../session/Service.ts"
import { useRefusal } from "../session/Session.tsx"
import { useOpened } from "../shell/Opened.ts"
import { Bar } from "../ui/Bar.tsx"
import { Button } from "../ui/Button.tsx"
import { Dialog } from "../ui/Dialog.tsx"
import { Failure } from "../ui/Failure.tsx"
import { elsewhere, Field, TextField } from "../ui/Field.tsx"
import { grouped, t } from "../ui/Language.ts"
import { Empty, Loaded } from "../ui/Loaded.tsx"
import { Section } from "../ui/Page.tsx"
import { Status } from "../ui/Status.tsx"
import { actions, Table } from "../ui/Table.tsx"
import { exactly, Time, timeZone } from "../ui/Time.tsx"

const only: Record<ReplayedStatus, string> = {
  delivered: t("Delivered only"),
  exhausted: t("Exhausted only"),
  skipped: t("Skipped only")
}

const states: Record<Replay["state"], string> = {
  running: t("Running"),
  completed: t("Completed"),
  cancelled: t("Cancelled")
}

const Progress = ({ replay: { replayed, state, total } }: { readonly replay: Replay }) => (
  <div className="flex items-center gap-2">
    {total === null ?
      null :
      <Bar label={t("Progress")} max={total} value={total === 0 ? 1 : replayed} className="max-w-24 min-w-24" />}
    <span className="whitespace-nowrap tabular-nums">
      {total !== null
        ? t("{count} of {total}", { count: grouped(replayed), total: grouped(total) })
        : state === "running"
        ? t("{count} so far", { count: grouped(replayed) })
        : grouped(replayed)}
    </span>
  </div>
)

const StartDialog = ({ onClose }: { readonly onClose: () => void }) => {
  const client = useQueryClient()
  const [since, setSince] = useState("")
  const [until, setUntil] = useState("")
  const [status, setStatus] = useState<ReplayedStatus | "">("")
  const once = useOnce<CreateReplay>()
  const create = useMutation({
    mutationFn: () =>
      once([since, until, status], () => ({
        since: new Date(since).toISOString(),
        ...(until === "" ? {} : { until: new Date(until).toISOString() }),
        ...(status === "" ? {} : { status })
      }), api.replays.create),
    onSuccess: onClose,
    onSettled: () => client.invalidateQueries()
  })
  const { error } = create
  return (
    <Dialog title={t("Replay events")} isDismissible={!create.isPending} onClose={onClose}>
      <form
        className="space-y-4"
        onSubmit={(event) => {
          event.preventDefault()
          if (!create.isPending) create.mutate()
        }}
      >
        <p>
          {t(
            "Delivers what was recorded for the webhook in a range of time again, oldest first, at a bounded rate. The events have the same ids as before, so a receiver that remembers ids handles each once."
          )}
        </p>
        <div className="grid gap-4 sm:grid-cols-2">
          <TextField
            label={t("From")}
            hint={t("Time zone: {timeZone}", { timeZone })}
            error={error}
            param="since"
            type="datetime-local"
            step="1"
            required
            value={since}
            onChange={setSince}
          />
          <TextField
            label={t("To")}
            hint={t("Now, if left empty")}
            error={error}
            param="until"
            type="datetime-local"
            step="1"
            value={until}
            onChange={setUntil}
          />
        </div>
        <Field label={t("Deliveries")} error={error} param="status">
          {(control) => (
            <select
              {...control}
              className="field"
              value={status}
              onChange={(event) => setStatus(event.target.value as ReplayedStatus | "")}
            >
              <option value="">{t("All that have ended")}</option>
              {Object.entries(only).map(([status, name]) => <option key={status} value={status}>{name}</option>)}
            </select>
          )}
        </Field>
        <Failure error={elsewhere(error, "since", "until", "status")} />
        <div className="flex flex-wrap justify-end gap-2">
          <Button isPending={create.isPending} onClick={onClose}>{t("Cancel")}</Button>
          <Button look="primary" type="submit" isPending={create.isPending}>{t("Start replay")}</Button>
        </div>
      </form>
    </Dialog>
  )
}

export const ReplaysSection = ({ isPaused }: { readonly isPaused: boolean }) => {
  const client = useQueryClient()
  const refusal = useRefusal(RoleOf.replaysCreate, RoleOf.replaysCancel)
  const [opened, setOpened] = useOpened(["replay"])
  const query = useQuery({
    queryKey: ["replays"],
    queryFn: ({ signal }) => firstPage(api.replays.list({ limit: 10 }, { signal })),
    ...live(3000)
  })
  const cancel = useMutation({
    mutationFn: (id: string) => api.replays.cancel(id),
    onSettled: () => client.invalidateQueries()
  })
  return (
    <Section
      flush
      title={t("Replays")}
      description={t("Deliver a range of events again.")}
      actions={
        <Button icon="refresh" refusal={refusal} onClick={() => setOpened("replay")}>{t("Replay events")}</Button>
      }
    >
      <div className="px-4">
        <Failure error={cancel.error} />
      </div>
      <Loaded query={query} lines={2}>
        {({ data }) =>
          data.length === 0 ?
            <Empty title={t("Nothing was replayed yet")} /> :
            (
              <Table
                label={t("Replays")}
                items={data}
                columns={[
                  {
                    name: t("Range"),
                    className: "text-[13px]",
                    cell: ({ since, status, until }) => (
                      <>
                        {exactly(since)} – {exactly(until)}
                        {status === null
                          ? null
                          : <span className="block text-muted">{only[status]}</span>}
                      </>
                    )
                  },
                  {
                    name: t("State"),
                    cell: ({ state }) => (
                      <Status
                        tone={state === "completed" ? "good" : "calm"}
                        icon={state === "cancelled"
                          ? "minus"
                          : state === "completed"
                          ? "check"
                          : isPaused
                          ? "pause"
                          : "refresh"}
                      >
                        {state === "running" && isPaused ? t("Waits until the webhook is resumed") : states[state]}
                      </Status>
                    )
                  },
                  { name: t("Progress"), cell: (replay) => <Progress replay={replay} /> },
                  { name: t("Started"), className: "text-muted", cell: ({ createdAt }) => <Time at={createdAt} /> },
                  actions(({ createdAt, id, state }: Replay) =>
                    state === "running"
                      ? (
                        <Button
                          small
                          aria-label={t("Cancel the replay that was started {when}", { when: exactly(createdAt) })}
                          refusal={refusal}
                          isPending={cancel.isPending}
                          onClick={() => cancel.mutate(id)}
                        >
                          {t("Cancel")}
                        </Button>
                      )
                      : null
                  )
                ]}
              />
            )}
      </Loaded>
      {opened === "replay" && refusal === undefined ? <StartDialog onClose={() => setOpened(undefined)} /> : null}
    </Section>
  )
}
