/** A dialog that does the same to many items of a list: it counts them, asks, acts on each, and shows the progress. */
import { useMutation, useQueryClient } from "@tanstack/react-query"
import { useSearch } from "@tanstack/react-router"
import { type ReactNode, useEffect, useRef, useState } from "react"
import { Bar } from "./Bar.tsx"
import { Button } from "./Button.tsx"
import { Dialog } from "./Dialog.tsx"
import { Failure } from "./Failure.tsx"
import { grouped, t } from "./Language.ts"
import { counted } from "./Words.ts"

/** The most items of one run. */
const most = 50_000

/** How many items are acted on at the same time. */
const atOnce = 4

/** Why an item was left out, as words for one item and for many: `was already sent`, `were already sent`. */
export type LeftOut = readonly [one: string, many: string]

interface Tally {
  readonly done: number
  readonly leftOut: ReadonlyMap<LeftOut, number>
}

const sum = ({ done, leftOut }: Tally): number => [...leftOut.values()].reduce((a, b) => a + b, done)

/**
 * The dialog. The run stops at the first error, and the person can continue with the items that remain. The dialog
 * closes if the filters in the page's address change, except during a run: its items are those of the filter at opening.
 */
export const BulkDialog = <Item extends { readonly id: string }>(
  { act, action, beyond, children, done, ended, filter: present, fits, look, noun, onClose, title, walk }: {
    /** The title for a number of items; `undefined` until they are counted. */
    readonly title: (count?: number) => string
    /** The word for one item. */
    readonly noun: string
    /** The label of the button that starts the run. */
    readonly action: string
    readonly look: "primary" | "destroy"
    /** The participle for items after the act, such as `cancelled`. */
    readonly done: string
    /** Reads the items, page by page. */
    readonly walk: (signal: AbortSignal) => AsyncIterable<{ readonly data: ReadonlyArray<Item> }>
    /** Whether the act is possible for an item; other items are not counted. */
    readonly fits: (item: Item) => boolean
    /** The filters that select the items, in words; omitted if the reader chose the items one by one. */
    readonly filter?: ReadonlyArray<readonly [name: string, value: string]>
    /**
     * Acts on one item; a call with the same key repeats the same act. Returns why the item was left out, if it was.
     */
    readonly act: (item: Item, key: string) => Promise<LeftOut | undefined>
    /** Says how to reach the items after the first `count`, if these stay in the list after the act. */
    readonly beyond?: (count: string) => string
    /** Called with the ids of the items that were acted on or left out, even if other items remain. */
    readonly onClose: (ended: ReadonlySet<string>) => void
    /** The text that explains the act. */
    readonly children: ReactNode
    /** The content after the run, if no item remains. */
    readonly ended?: () => ReactNode
  }
) => {
  const client = useQueryClient()
  const running = useRef<AbortController>(undefined)
  const [filter] = useState(present)
  const [ids] = useState(() => ({ ended: new Set<string>(), keys: crypto.randomUUID() }))
  const [found, setFound] = useState(0)
  const [tally, setTally] = useState<Tally>({ done: 0, leftOut: new Map() })
  const begin = (): AbortController => running.current = new AbortController()

  const gather = useMutation({
    mutationFn: async () => {
      const { signal } = begin()
      const items = new Map<string, Item>()
      for await (const { data } of walk(signal)) {
        for (const item of data) if (fits(item) && items.size < most) items.set(item.id, item)
        setFound(items.size)
        if (items.size === most || signal.aborted) break
      }
      return [...items.values()]
    }
  })
  const { data: items, mutate: count } = gather
  useEffect(() => {
    count()
    return () => running.current?.abort()
  }, [count])

  const run = useMutation({
    mutationFn: async (items: ReadonlyArray<Item>) => {
      const go = begin()
      const left = items.filter(({ id }) => !ids.ended.has(id)).values()
      const work = async () => {
        for (const item of left) {
          if (go.signal.aborted) return
          try {
            const leftOut = await act(item, `${ids.keys}:${item.id}`)
            ids.ended.add(item.id)
            setTally((before) =>
              leftOut === undefined
                ? { ...before, done: before.done + 1 }
                : {
                  ...before,
                  leftOut: new Map(before.leftOut).set(leftOut, (before.leftOut.get(leftOut) ?? 0) + 1)
                }
            )
          } catch (error) {
            go.abort()
            throw error
          }
        }
      }
      // all calls in flight end before the reader can continue
      const failed = (await Promise.allSettled(Array.from({ length: atOnce }, work))).find(({ status }) =>
        status === "rejected"
      )
      if (failed?.status === "rejected") throw failed.reason
    },
    onSettled: () => client.invalidateQueries()
  })

  const total = items?.length ?? 0
  const left = total - sum(tally)
  const close = () => onClose(ids.ended)
  const address = JSON.stringify(useSearch({ strict: false }))
  const known = useRef(address)
  useEffect(() => {
    if (known.current === address) return
    known.current = address
    if (!run.isPending) close()
  })
  const isEnded = items !== undefined && left === 0 && !run.isPending
  return (
    <Dialog
      title={title(items?.length)}
      isDismissible={!run.isPending}
      onClose={close}
      width="max-w-md"
    >
      <div className="space-y-4">
        {filter === undefined ? null : (
          <div>
            <p>{t("All of the list with this filter:")}</p>
            <ul className="mt-1 list-disc pl-5">
              {filter.map(([name, value]) => <li key={name}>{name}: {value}</li>)}
            </ul>
          </div>
        )}
        {items === undefined
          ? gather.isError ?
            null :
            <p role="status" className="tabular-nums">{t("Counting: {count} so far", { count: grouped(found) })}</p>
          : total === 0
          ? (
            <p role="status">
              {t("There is nothing to do: no {noun} of the list can be {done} now.", { done, noun })}
            </p>
          )
          : (
            <>
              <div>{children}</div>
              {total === most
                ? (
                  <p>
                    {beyond?.(grouped(most)) ??
                      t("These are the first {count}: do it again for those that follow.", { count: grouped(most) })}
                  </p>
                )
                : null}
              {isEnded ? null : (
                <p className="text-muted">
                  {t(
                    "This page does it, a few at a time. If you stop it or close the page, those that are {done} stay {done}, and the others are as before.",
                    { done }
                  )}
                </p>
              )}
              {run.isIdle ? null : (
                <div role="status">
                  <Bar label={t("Progress")} max={total} value={sum(tally)} />
                  <p className="mt-1 tabular-nums">
                    {[
                      t("{count} of {total} {done}", { count: grouped(tally.done), total: grouped(total), done }),
                      ...[...tally.leftOut].map(([words, count]) => counted(count, ...words))
                    ].join(", ")}
                  </p>
                </div>
              )}
            </>
          )}
        <Failure error={gather.error ?? run.error} />
        {isEnded && total > 0 ? ended?.() : null}
        <div className="flex flex-wrap justify-end gap-2">
          {run.isPending
            ? <Button onClick={() => running.current?.abort()}>{t("Stop")}</Button>
            : <Button onClick={close}>{isEnded || !run.isIdle ? t("Close") : t("Cancel")}</Button>}
          {items === undefined || isEnded ?
            null :
            (
              <Button look={look} isPending={run.isPending} onClick={() => run.mutate(items)}>
                {run.isIdle || run.isPending ? action : t("Go on with {count}", { count: grouped(left) })}
              </Button>
            )}
        </div>
      </div>
    </Dialog>
  )
}
