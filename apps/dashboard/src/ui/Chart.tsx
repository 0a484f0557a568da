/**
 * A chart of numbers over time, as stacked bars or as lines. It shows the numbers of the step that a person points at,
 * touches or chooses with the keyboard, and all numbers in a table. Pages show it through `ChartPart`, which loads it
 * when it is first needed.
 */
import { Link, useNavigate } from "@tanstack/react-router"
import { AxisBottom, AxisLeft, type TickRendererProps } from "@visx/axis"
import { scaleBand, scaleLinear, scaleTime } from "@visx/scale"
import { BarStack, LinePath } from "@visx/shape"
import { type KeyboardEvent, type PointerEvent, useId, useLayoutEffect, useRef, useState } from "react"
import { locale, t } from "./Language.ts"
import { type Column, Table } from "./Table.tsx"
import { lineOf, type Look, Textured, Textures } from "./Texture.tsx"

/** One of the quantities of a chart, and its look. */
export interface Series extends Look {
  readonly key: string
  readonly name: string
}

/** An interval of time with a value for each series; `null` if there is nothing to measure. */
export interface Step {
  /** Its first moment, and the first moment after it, in milliseconds. */
  readonly from: number
  readonly until: number
  readonly values: { readonly [key: string]: number | null }
}

/** A period that explains the values, such as an outage; it is shaded behind them. */
export interface Band {
  readonly from: number
  readonly until: number
  /** What happened, such as `failing`; it is shown after the time of a step. */
  readonly name: string
}

/** A page with a list, and its filters. */
export interface Place {
  readonly to: "/messages" | "/requests" | "/deliveries"
  readonly search: { readonly [parameter: string]: string | undefined }
}

/** Returns the list of the things that a series counts in a step; `undefined` if there is none. */
export type LinkOf = (key: string, step: Step) => Place | undefined

const height = 190
/** On the right there is room for half of the longest label, `30 Nov`, because a label may stand at the end. */
const margin = { top: 8, right: 24, bottom: 24 }
/** The least width of the value axis, the width of one character of its labels, and the gap beside them. */
const axis = { width: 44, character: 7.5, gap: 10 }
const plotHeight = height - margin.top - margin.bottom

const dayName = new Intl.DateTimeFormat(locale, { day: "numeric", month: "short" })
const timeName = new Intl.DateTimeFormat(locale, { hour: "2-digit", minute: "2-digit" })
const span = new Intl.DateTimeFormat(locale, {
  day: "numeric",
  month: "short",
  hour: "2-digit",
  minute: "2-digit"
})

/** The label of a moment on the time axis: the day at midnight, otherwise the time. */
const tickName = (time: Date): string =>
  time.getHours() === 0 && time.getMinutes() === 0 ? dayName.format(time) : timeName.format(time)

const spanOf = ({ from, until }: Step): string => span.formatRange(from, until)

const Tick = ({ dy, formattedValue, textAnchor, x, y }: TickRendererProps) => (
  <text x={x} y={y} dy={dy} textAnchor={textAnchor} className="fill-muted text-xs tabular-nums">{formattedValue}</text>
)

/** The current width of an element, in CSS pixels, and the reference that the element needs. */
const useWidth = () => {
  const ref = useRef<HTMLDivElement>(null)
  const [width, setWidth] = useState(0)
  useLayoutEffect(() => {
    const element = ref.current!
    const observer = new ResizeObserver(() => setWidth(element.clientWidth))
    setWidth(element.clientWidth)
    observer.observe(element)
    return () => observer.disconnect()
  }, [])
  return [ref, width] as const
}

const Swatch = ({ kind, ...look }: Look & Pick<ChartProps, "kind">) => {
  const id = useId()
  return kind === "line"
    ? (
      <svg viewBox="0 0 22 12" className="h-3 w-5.5 shrink-0" aria-hidden="true">
        <path d="M0 6H22" {...lineOf(look)} />
      </svg>
    )
    : (
      <svg viewBox="0 0 12 12" className="size-3 shrink-0" aria-hidden="true">
        <Textures id={id} />
        <Textured id={id} {...look} x={0} y={0} width={12} height={12} />
      </svg>
    )
}

export interface ChartProps {
  /** The name of the chart. */
  readonly label: string
  /** Whether the series are stacked bars, or lines. */
  readonly kind: "bars" | "line"
  readonly series: ReadonlyArray<Series>
  /** At least one step, oldest first, without gaps. */
  readonly steps: ReadonlyArray<Step>
  /** Returns the text of a value. */
  readonly format: (value: number) => string
  /** The end of the value axis; by default the highest value, rounded up. */
  readonly most?: number
  /** If omitted, the numbers are not links. */
  readonly linkOf?: LinkOf
  readonly bands?: ReadonlyArray<Band>
}

export const Chart = ({ bands = [], format, kind, label, linkOf, most, series, steps }: ChartProps) => {
  const id = useId()
  const navigate = useNavigate()
  const [plot, width] = useWidth()
  const [chosen, setChosen] = useState<number>()
  const [isTable, setIsTable] = useState(false)
  const begin = steps[0]!.from
  const end = steps.at(-1)!.until
  const keys = series.map(({ key }) => key)
  // bars are stacked, lines are not
  const topOf = ({ values }: Step) =>
    keys.reduce((top, key) => kind === "bars" ? top + (values[key] ?? 0) : Math.max(top, values[key] ?? 0), 0)
  const highest = most ?? Math.max(1, ...steps.map(topOf))
  const y = scaleLinear({ domain: [0, highest], range: [plotHeight, 0], nice: most === undefined })
  // counts are whole numbers, so no tick stands between two of them
  const isCounted = most === undefined &&
    steps.every(({ values }) => keys.every((key) => Number.isInteger(values[key] ?? 0)))
  const ticks = y.ticks(4).filter((tick) => !isCounted || Number.isInteger(tick))
  const left = Math.max(axis.width, ...ticks.map((tick) => format(tick).length * axis.character + axis.gap))
  const plotWidth = Math.max(0, width - left - margin.right)
  const x = scaleTime({ domain: [begin, end], range: [0, plotWidth] })
  const middle = ({ from, until }: Step) => x((from + until) / 2)
  const band = scaleBand({ domain: steps.map(({ from }) => from), range: [0, plotWidth], padding: 0.2 })
  const at = steps.findIndex(({ from }) => from === chosen)
  const step = at === -1 ? undefined : steps[at]
  const valueOf = (of: Step, key: string) => of.values[key] == null ? "–" : format(of.values[key])
  /** The time of a step, and the names of the bands that overlap it. */
  const headOf = (of: Step) => {
    const names = bands.filter(({ from, until }) => from < of.until && until > of.from).map(({ name }) => name)
    return [spanOf(of), ...new Set(names)].join(", ")
  }
  const choose = (index: number) => setChosen(steps[Math.min(Math.max(index, 0), steps.length - 1)]!.from)

  const onKeyDown = (event: KeyboardEvent) => {
    const present = at === -1 ? steps.length - 1 : at
    const next = {
      ArrowLeft: present - 1,
      ArrowDown: present - 1,
      ArrowRight: present + 1,
      ArrowUp: present + 1,
      PageDown: present - 7,
      PageUp: present + 7,
      Home: 0,
      End: steps.length - 1
    }[event.key]
    if (next === undefined) return
    event.preventDefault()
    choose(next)
  }
  /** The step under a pointer, and the series whose part of the bar is there. */
  const under = (event: PointerEvent<Element>): readonly [index: number, key: string | undefined] => {
    const box = event.currentTarget.getBoundingClientRect()
    const index = Math.floor((event.clientX - box.left - left) / (plotWidth || 1) * steps.length)
    const found = steps[index]
    const value = y.invert(event.clientY - box.top - margin.top)
    let sum = 0
    const key = found === undefined || value < 0
      ? undefined
      : keys.find((each) => (sum += found.values[each] ?? 0) >= value && found.values[each] !== 0)
    return [index, key]
  }

  const columns: ReadonlyArray<Column<Step>> = [
    { name: t("Time"), cell: spanOf },
    ...series.map(({ key, name }) => ({
      name,
      className: "tabular-nums",
      cell: (each: Step) => valueOf(each, key)
    }))
  ]
  return (
    <figure className="min-w-0" aria-label={label}>
      <div
        ref={plot}
        role="slider"
        tabIndex={0}
        aria-label={t("{label}, step of time", { label })}
        aria-valuemin={1}
        aria-valuemax={steps.length}
        aria-valuenow={at === -1 ? steps.length : at + 1}
        aria-valuetext={step === undefined
          ? t("No step is chosen")
          : `${headOf(step)}: ${series.map(({ key, name }) => `${name} ${valueOf(step, key)}`).join(", ")}`}
        className="touch-pan-y rounded"
        onKeyDown={onKeyDown}
        onFocus={(event) => {
          if (chosen === undefined && event.currentTarget.matches(":focus-visible")) choose(steps.length - 1)
        }}
        onPointerMove={(event) => choose(under(event)[0])}
        onPointerDown={(event) => choose(under(event)[0])}
        onPointerUp={(event) => {
          const [index, key] = under(event)
          // a touch only chooses the step; the caption below has its links
          if (event.pointerType === "mouse" && event.button === 0 && key !== undefined) {
            const place = linkOf?.(key, steps[index]!)
            if (place !== undefined) void navigate(place)
          }
        }}
      >
        <svg width={width} height={height} className="block" aria-hidden="true">
          <Textures id={id} />
          <g transform={`translate(${left} ${margin.top})`}>
            {bands.filter(({ from, until }) => from < end && until > begin).map(({ from, name, until }) => {
              const [left, right] = [x(Math.max(from, begin)), x(Math.min(until, end))]
              return (
                <g key={`${name} ${from}`}>
                  <rect
                    x={left}
                    width={Math.max(1, right - left)}
                    height={plotHeight}
                    className="fill-warn-soft"
                  />
                  <path
                    d={`M${left} 0V${plotHeight}M${right} 0V${plotHeight}`}
                    className="stroke-warn"
                    strokeDasharray="2 3"
                  />
                </g>
              )
            })}
            {step === undefined ? null : (
              <rect
                x={x(step.from)}
                width={Math.max(0, x(step.until) - x(step.from))}
                height={plotHeight}
                className="fill-accent-soft"
              />
            )}
            {ticks.map((tick) => <line key={tick} x2={plotWidth} y1={y(tick)} y2={y(tick)} className="stroke-line" />)}
            {kind === "bars"
              ? (
                <BarStack<Step, string>
                  data={steps as Array<Step>}
                  keys={keys}
                  value={({ values }, key) => values[key] ?? 0}
                  x={({ from }) => from}
                  xScale={band}
                  yScale={y}
                  color={(key) => key}
                >
                  {(stacks) =>
                    stacks.flatMap(({ bars, index, key }) =>
                      bars.filter(({ height }) => height > 0).map((bar) => (
                        <Textured
                          key={`${key} ${bar.index}`}
                          id={id}
                          fill={series[index]!.fill}
                          texture={series[index]!.texture}
                          x={bar.x}
                          y={bar.y}
                          width={bar.width}
                          height={bar.height}
                        />
                      ))
                    )}
                </BarStack>
              )
              : series.map(({ fill, key, texture }) => (
                <g key={key}>
                  <LinePath<Step>
                    data={steps as Array<Step>}
                    defined={({ values }) => values[key] != null}
                    x={middle}
                    y={({ values }) => y(values[key] ?? 0)}
                    {...lineOf({ fill, texture })}
                  />
                  {steps.map((each) =>
                    each.values[key] == null
                      ? null
                      : <circle key={each.from} cx={middle(each)} cy={y(each.values[key])} r={2.5} className={fill} />
                  )}
                </g>
              ))}
            <AxisLeft
              scale={y}
              tickValues={ticks}
              tickFormat={(value) => format(Number(value))}
              tickComponent={Tick}
              hideAxisLine
              hideTicks
            />
            <AxisBottom
              top={plotHeight}
              scale={x}
              numTicks={Math.max(2, Math.floor(plotWidth / 80))}
              tickFormat={(value) => tickName(new Date(Number(value)))}
              tickComponent={Tick}
              axisLineClassName="stroke-edge"
              tickLineProps={{ className: "stroke-edge" }}
            />
          </g>
        </svg>
      </div>
      <figcaption className="mt-1.5 min-h-11 text-[13px]">
        {step === undefined
          ? <span className="text-muted">{t("Point at a step, touch it, or choose it with the arrow keys.")}</span>
          : <span className="font-medium tabular-nums">{headOf(step)}</span>}
        <ul className="flex flex-wrap gap-x-4 gap-y-1">
          {series.map(({ key, name, ...look }) => {
            const place = step?.values[key] ? linkOf?.(key, step) : undefined
            return (
              <li key={key} className="flex items-center gap-1.5">
                <Swatch kind={kind} {...look} />
                {step === undefined
                  ? name
                  : place === undefined
                  ? `${name} ${valueOf(step, key)}`
                  : (
                    <Link {...place} className="underline tabular-nums">
                      {name} {valueOf(step, key)}
                    </Link>
                  )}
              </li>
            )
          })}
        </ul>
      </figcaption>
      <details className="mt-1 text-[13px]" onToggle={({ currentTarget }) => setIsTable(currentTarget.open)}>
        <summary className="text-muted">{t("All numbers")}</summary>
        {isTable
          ? (
            <div
              className="mt-1 max-h-72 overflow-y-auto"
              tabIndex={0}
              role="region"
              aria-label={t("{label}, all numbers", { label })}
            >
              <Table label={label} columns={columns} items={steps} keyOf={({ from }) => `${from}`} />
            </div>
          )
          : null}
      </details>
    </figure>
  )
}
