import { useEffect, useRef, useState } from 'preact/hooks'
import type { Tone } from '../../cli/output/event-words.ts'
import { theme } from '../page/theme.ts'
import type { Outline } from '../run/outline.ts'
import { toneOf } from '../run/timeline/tone.ts'

/** Tones in ascending priority, for events that share a pixel. */
const ORDER: readonly Tone[] = ['model', 'tool', 'rule', 'person', 'bad']

interface StripProps {
  readonly outline: Outline
  readonly length: number
  readonly place: number
  readonly words: string
  readonly onMove: (revision: number) => void
  readonly onGrab: () => void
}

/** All events on a strip, with a draggable position. */
export function Strip({ outline, length, place, words, onMove, onGrab }: StripProps) {
  const box = useRef<HTMLDivElement>(null)
  const canvas = useRef<HTMLCanvasElement>(null)
  const [width, setWidth] = useState(0)
  const frame = useRef(0)
  useEffect(() => {
    const observer = new ResizeObserver(([entry]) => setWidth(Math.round(entry?.contentRect.width ?? 0)))
    observer.observe(box.current!)
    return () => observer.disconnect()
  }, [])
  const dark = matchMedia('(prefers-color-scheme: dark)').matches
  useEffect(() => {
    if (width > 0 && canvas.current !== null) draw(canvas.current, outline, width)
  }, [outline, length, width, theme.value, dark])
  const last = Math.max(1, length - 1)
  const drag = (event: PointerEvent) => {
    const strip = event.currentTarget as HTMLElement
    if (event.type === 'pointerdown') {
      strip.setPointerCapture(event.pointerId)
      onGrab()
    } else if (!strip.hasPointerCapture(event.pointerId)) return
    const { left, width: whole } = strip.getBoundingClientRect()
    const revision = Math.round(Math.min(1, Math.max(0, (event.clientX - left) / whole)) * last)
    cancelAnimationFrame(frame.current)
    frame.current = requestAnimationFrame(() => onMove(revision))
  }
  return (
    <div
      ref={box}
      class="strip"
      role="slider"
      tabIndex={0}
      aria-label="Position"
      aria-valuemin={0}
      aria-valuemax={Math.max(0, length - 1)}
      aria-valuenow={place}
      aria-valuetext={words}
      onPointerDown={drag}
      onPointerMove={drag}
    >
      <canvas ref={canvas} height={24} />
      <div class="needle" style={{ transform: `translateX(${(width * place) / last}px)` }} />
    </div>
  )
}

/** Draws each event in its tone's colour. In a shared column the tone with the highest priority wins. */
function draw(canvas: HTMLCanvasElement, { types }: Outline, width: number): void {
  canvas.width = width
  const context = canvas.getContext('2d')
  if (context === null) return
  const columns = new Uint8Array(width + 1)
  const tones = new Map<string, number>()
  const last = Math.max(1, types.length - 1)
  for (let i = 0; i < types.length; i++) {
    const type = types[i]!
    const rank = tones.get(type) ?? ORDER.indexOf(toneOf(type)) + 1
    tones.set(type, rank)
    const column = Math.round((i / last) * (width - 1))
    if (rank > columns[column]!) columns[column] = rank
  }
  context.clearRect(0, 0, width, canvas.height)
  for (const [i, tone] of ORDER.entries()) {
    // The style sheet defines the colours of both themes.
    canvas.className = tone
    context.fillStyle = getComputedStyle(canvas).color
    for (let x = 0; x < width; x++) if (columns[x] === i + 1) context.fillRect(x, 4, 1, 16)
  }
}
