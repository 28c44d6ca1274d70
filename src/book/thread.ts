import { serveTasks } from '../runtime/serve-tasks.ts'
import { createTasks } from './tasks.ts'

serveTasks(createTasks())
