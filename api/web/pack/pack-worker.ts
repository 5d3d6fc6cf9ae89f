import './buffer.ts'
import { check, type ToCheck } from './check.ts'

// Checks one pack beside the page, so that the page stays responsive.

addEventListener('message', ({ data }: MessageEvent<ToCheck>) => void check(data, (told) => postMessage(told)))
