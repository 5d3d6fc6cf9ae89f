import { z } from 'zod'

// Without this, zod tries whether it may compile code, which the page's policy forbids and reports. Import this before any
// schema.
z.config({ jitless: true })
