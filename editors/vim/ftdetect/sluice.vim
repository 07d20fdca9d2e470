autocmd BufNewFile,BufRead *.sluice setfiletype sluice
