/* Catalogues as CSV. */
#define _GNU_SOURCE /* fopencookie */
#include <errno.h>

#include "catalogues.h"

static const char header[] =
    "Source_id,Isl_id,Source_Name,S_Code,N_Gaus,RA,DEC,E_RA,E_DEC,RA_max,DEC_max,Xposn,Yposn,"
    "E_Xposn,E_Yposn,"
    "Isl_Total_flux,E_Isl_Total_flux,Total_flux,E_Total_flux,E_Total_shape,Peak_flux,E_Peak_flux,"
    "Xpeak,Ypeak,"
    "Pixel_sum,N_pix,X_min,X_max,Y_min,Y_max,Maj,Min,PA,E_Maj,E_Min,E_PA,DC_Maj,DC_Min,DC_PA,"
    "E_DC_Maj,E_DC_Min,E_DC_PA,Resid_Isl_rms,Resid_Isl_mean,Chi2,Dof,Isl_rms,Isl_mean,SNR,Pix_SNR,"
    "Hole,Flags\n";

static void header_line(void **state) {
    struct srcfind_catalogue *c = catalogue_of(0, "image.fits");
    char *text = text_of(&csv_writer, c, NULL);
    (void)state;
    assert_string_equal(text, header);
    free(text);
    strcpy(result_of(c)->image.lon_name, "GLON");
    catalogue_complete(c);
    text = text_of(&csv_writer, c, NULL);
    assert_memory_equal(text, "Source_id,Isl_id,Source_Name,S_Code,N_Gaus,GLON,GLAT,E_GLON,", 57);
    free(text);
    srcfind_catalogue_destroy(c);
}

static void known_row(void **state) {
    struct srcfind_catalogue *c = catalogue_of(1, "image.fits");
    (void)state;
    result_of(c)->sources.rows[0] = (struct srcfind_source){.id = 1,
                                                            .island_id = INT64_MIN + 1,
                                                            .name = "J083615.58-121557.3",
                                                            .lon = 0.1,
                                                            .lat = -90,
                                                            .e_lon = NAN,
                                                            .e_lat = INFINITY,
                                                            .x = 1e-5,
                                                            .y = 5e-324,
                                                            .e_x = -0.0,
                                                            .x_peak = SRCFIND_EMPTY,
                                                            .y_max = SRCFIND_EMPTY,
                                                            .flags = 31,
                                                            .s_code = "S",
                                                            .n_gaussians = 2,
                                                            .lon_max = 7,
                                                            .lat_max = -8,
                                                            .dc_angle = 12.5,
                                                            .resid_isl_rms = NAN,
                                                            .pix_snr = 5.5,
                                                            .hole = 4.25};
    char *text = text_of(&csv_writer, c, NULL);
    assert_string_equal(
        text + strlen(header),
        "1,-9223372036854775807,J083615.58-121557.3,S,2,0.1,-90,,,7,-8,1e-05,5e-324,0,0,0,"
        "0,0,0,0,0,0,,0,0,0,0,0,0,,0,0,0,0,0,0,0,0,12.5,0,0,0,,0,0,0,0,0,0,5.5,4.25,31\n");
    free(text);
    srcfind_catalogue_destroy(c);
}

/* The cell that begins here is this one; returns where the next one begins. */
static char *assert_cell(char *at, struct srcfind_source *row, int i) {
    char *end = at + strcspn(at, ",\n");
    assert_int_equal(*end, i + 1 < N_CELLS ? ',' : '\n');
    *end = '\0';
    assert_null(strpbrk(at, "\" \r"));
    if (cells[i].kind == 't') {
        assert_string_equal(at, cell_of(row, i));
    } else if (cells[i].kind == 'i') {
        int64_t integer;
        memcpy(&integer, cell_of(row, i), sizeof integer);
        assert_int_equal(*at == '\0', integer == SRCFIND_EMPTY);
        assert_true(!*at || strtoll(at, NULL, 10) == integer);
    } else {
        double real, read = strtod(at, NULL);
        memcpy(&real, cell_of(row, i), sizeof real);
        assert_int_equal(*at != '\0', isfinite(real));
        assert_true(!isfinite(real) || read == real);
    }
    return end + 1;
}

/* Numbers read back as the same doubles; cells that are not finite are empty. */
static void random_rows(void **state) {
    enum { N = 3000 };
    struct srcfind_catalogue *c = catalogue_of(N, "image.fits");
    char *text = text_of(&csv_writer, c, unit_threads(2)), *at = text + strlen(header);
    (void)state;
    assert_memory_equal(text, header, strlen(header));
    for (int k = 0; k < N; k++)
        for (int i = 0; i < N_CELLS; i++)
            at = assert_cell(at, &result_of(c)->sources.rows[k], i);
    assert_true(*at == '\0');
    free(text);
    srcfind_catalogue_destroy(c);
}

static void threads(void **state) {
    (void)state;
    for (int i = 0; i < n_writers; i++)
        if (!writers[i]->is_sky_model) /* whose rows are not these */
            assert_same_on_threads(writers[i]);
}

/* A device with room for some bytes. */
static ssize_t write_to_room(void *room, const char *bytes, size_t n) {
    size_t *left = room;
    (void)bytes;
    if (n > *left) {
        errno = ENOSPC;
        return 0;
    }
    *left -= n;
    return (ssize_t)n;
}

/* Wherever and on whatever thread the device is full, that is said; and nothing where all fits. */
static void full_devices(void **state) {
    struct srcfind_catalogue *c = catalogue_of(2000, "image.fits");
    char *text = text_of(&csv_writer, c, NULL);
    const size_t size = strlen(text), rooms[] = {0, 100, 5000, size / 2, size - 1, size};
    (void)state;
    for (int i = 0; i < 18; i++) {
        size_t room = rooms[i / 3];
        struct error error = {"nothing"};
        FILE *stream = fopencookie(&room, "w", (cookie_io_functions_t){.write = write_to_room});
        const enum srcfind_status status =
            save_stream(&c->table, &csv_writer, unit_threads(i % 3 + 1), stream, "a.csv", &error);
        fclose(stream);
        assert_int_equal(status, i / 3 < 5 ? SRCFIND_ERROR_OUTPUT : SRCFIND_OK);
        assert_string_equal(error.text, i / 3 < 5 ? "a.csv: the catalogue cannot be written: No "
                                                    "space left on device"
                                                  : "nothing");
    }
    free(text);
    srcfind_catalogue_destroy(c);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(header_line),  cmocka_unit_test(known_row),
        cmocka_unit_test(random_rows),  cmocka_unit_test(threads),
        cmocka_unit_test(full_devices),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
