/** A QR code as an image in SVG. */
import { encode } from "uqr"

/** The path of the dark squares, each of one unit. */
const pathOf = (data: ReadonlyArray<ReadonlyArray<boolean>>): string =>
  data.flatMap((row, y) => row.flatMap((isDark, x) => isDark ? [`M${x} ${y}h1v1h-1z`] : [])).join("")

/** The code of a text; black on white in every theme, which every app can read. */
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
