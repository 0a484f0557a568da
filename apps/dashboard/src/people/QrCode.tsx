/** A QR code, drawn as one path. */
import { encode } from "uqr"

/** The modules that are dark, as squares of one unit. */
const pathOf = (data: ReadonlyArray<ReadonlyArray<boolean>>): string =>
  data.flatMap((row, y) => row.flatMap((isDark, x) => isDark ? [`M${x} ${y}h1v1h-1z`] : [])).join("")

/** Always dark on white, which every app reads. */
export const QrCode = ({ label, text }: { readonly text: string; readonly label: string }) => {
  const { data, size } = encode(text, { border: 4 })
  return (
    <svg
      role="img"
      aria-label={label}
      viewBox={`0 0 ${size} ${size}`}
      shapeRendering="crispEdges"
      className="size-52 rounded-md border border-line"
    >
      <path d={`M0 0h${size}v${size}H0z`} fill="#fff" />
      <path d={pathOf(data)} fill="#000" />
    </svg>
  )
}
