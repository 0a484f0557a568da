/** Textures over the colours of a chart's series, so that the series differ even without colours. */

type Texture = "plain" | "stripes" | "dots" | "grid"

/** The CSS classes of the colours of areas, each with the class for lines. */
const strokes = {
  "fill-accent": "stroke-accent",
  "fill-bad": "stroke-bad",
  "fill-edge": "stroke-edge",
  "fill-ink": "stroke-ink",
  "fill-warn": "stroke-warn"
} as const

const dashes = { plain: undefined, stripes: "7 3", dots: "2 3", grid: "7 3 2 3" } as const

/** How a series looks. */
export interface Look {
  /** The CSS class of its colour. */
  readonly fill: keyof typeof strokes
  readonly texture: Texture
}

/** The SVG attributes of a line: its colour, and dashes in place of its texture. */
export const lineOf = ({ fill, texture }: Look) => ({
  className: strokes[fill],
  strokeDasharray: dashes[texture],
  strokeWidth: 2
})

/** The patterns that an `svg` element needs for its {@link Textured} shapes. */
export const Textures = ({ id }: { readonly id: string }) => (
  <defs>
    <pattern id={`${id}-stripes`} width="5" height="5" patternUnits="userSpaceOnUse" patternTransform="rotate(45)">
      <path d="M0 0V5" className="stroke-surface" strokeWidth="3" />
    </pattern>
    <pattern id={`${id}-dots`} width="4" height="4" patternUnits="userSpaceOnUse">
      <circle cx="2" cy="2" r="1.1" className="fill-surface" />
    </pattern>
    <pattern id={`${id}-grid`} width="4" height="4" patternUnits="userSpaceOnUse">
      <path d="M0 0H4M0 0V4" className="stroke-surface" strokeWidth="1.5" />
    </pattern>
  </defs>
)

/** A rectangle with the look of a series, in an `svg` element that has {@link Textures} with the same id. */
export const Textured = ({ fill, id, texture, ...place }: Look & {
  readonly id: string
  readonly x: number
  readonly y: number
  readonly width: number
  readonly height: number
}) => (
  <>
    <rect {...place} className={fill} />
    {texture === "plain" ? null : <rect {...place} fill={`url(#${id}-${texture})`} />}
  </>
)
