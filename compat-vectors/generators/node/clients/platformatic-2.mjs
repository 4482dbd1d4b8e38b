import { runsOf } from './platformatic.mjs'

export const runs = (require) => runsOf(require, 'platformatic-2')
