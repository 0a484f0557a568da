/** The button that saves a list as a CSV file: it reads all pages of the filter, one after the other. */
import { useMutation } from "@tanstack/react-query"
import * as CsvDialect from "@wac/core/campaigns/CsvDialect"
import { useEffect, useRef, useState } from "react"
import { lazyModule } from "../shell/LazyPart.ts"
import { Button } from "./Button.tsx"
import { Failure } from "./Failure.tsx"
import { grouped, plural, t } from "./Language.ts"
import type { ListColumn } from "./Table.tsx"

const csv = lazyModule(() => import("csv-stringify/browser/esm/sync"))

/** The most rows of one file. */
const most = 50_000

const save = (name: string, parts: ReadonlyArray<string>) => {
  const link = document.createElement("a")
  link.href = URL.createObjectURL(new Blob([...parts], { type: "text/csv;charset=utf-8" }))
  link.download = `${name.toLowerCase().replaceAll(" ", "-")}.csv`
  link.click()
  URL.revokeObjectURL(link.href)
}

export const ListFile = <Item extends object>({ columns, name, walk }: {
  /** The name of the list, from which the file gets its name. */
  readonly name: string
  readonly columns: ReadonlyArray<ListColumn<Item>>
  readonly walk: (signal: AbortSignal) => AsyncIterable<{ readonly data: ReadonlyArray<Item> }>
}) => {
  const running = useRef<AbortController>(undefined)
  const [rows, setRows] = useState(0)
  useEffect(() => () => running.current?.abort(), [])
  const download = useMutation({
    mutationFn: async () => {
      const { signal } = running.current = new AbortController()
      setRows(0)
      const inFile = columns.flatMap(({ name, text }) => text === null ? [] : [{ name, text }])
      const { stringify } = await csv()
      const linesOf = (lines: Array<Array<string | number | null>>) =>
        stringify(lines, { ...CsvDialect.writing, record_delimiter: "windows" })
      const parts = [CsvDialect.mark, linesOf([inFile.map(({ name }) => name)])]
      let count = 0
      try {
        for await (const { data } of walk(signal)) {
          if (signal.aborted) break
          const items = data.slice(0, most - count)
          if (items.length > 0) parts.push(linesOf(items.map((item) => inFile.map(({ text }) => text(item)))))
          setRows(count += items.length)
          if (count === most) break
        }
      } catch (error) {
        if (!signal.aborted) throw error
      }
      if (signal.aborted) return "stopped"
      save(name, parts)
      return "saved"
    }
  })
  const isStopped = download.data === "stopped"
  return (
    <div className="flex flex-wrap items-center justify-end gap-3">
      <p role="status" className="text-muted tabular-nums">
        {download.isIdle || download.isError
          ? null
          : download.isPending
          ? t("{count} rows so far", { count: grouped(rows) })
          : isStopped
          ? t("Stopped: no file was saved.")
          : [
            plural(rows, "{count} row saved.", "{count} rows saved."),
            ...rows === most ? [t("A file has at most this many rows.")] : []
          ].join(" ")}
      </p>
      <Failure error={download.error} />
      {download.isPending ? <Button small onClick={() => running.current?.abort()}>{t("Stop")}</Button> : null}
      <Button small isPending={download.isPending} onClick={() => download.mutate()}>{t("Download CSV")}</Button>
    </div>
  )
}
